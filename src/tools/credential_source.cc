#include "tools/credential_source.h"

#include <algorithm>

#include "tools/stored_json.h"

namespace bj {

Result<CallCredentials> CredentialSource::find(const std::string& organization,
                                               const std::vector<std::string>& names) const {
  CallCredentials credentials;
  if (names.empty()) return credentials;
  BJ_TRY(std::vector<CredentialWithValue> stored, store_.credentials().find(organization, names));
  for (const std::string& name : names) {
    const auto found = std::find_if(stored.begin(), stored.end(),
                                    [&name](const CredentialWithValue& one) { return one.row.name == name; });
    if (found != stored.end()) {
      BJ_TRY(CallCredential credential, read_binding(stored_object(found->row.binding)));
      BJ_CHECK(complete(credential, name, std::move(found->value)));
      credentials.push_back(std::move(credential));
      continue;
    }
    BJ_TRY(std::optional<CallCredential> of_file, files_.find(organization, name));
    if (!of_file) {
      return fail(Code::kNotFound,
                  "there is no credential \"" + name + "\": an administrator adds it with `belljar credential add`");
    }
    credentials.push_back(std::move(*of_file));
  }
  return credentials;
}

}  // namespace bj
