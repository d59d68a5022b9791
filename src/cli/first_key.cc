#include "cli/first_key.h"

#include <unistd.h>

#include "cli/open_store.h"
#include "cli/record_act.h"
#include "sys/files.h"

namespace bj {

Result<std::optional<FirstKey>> ensure_first_key(Store& store, const std::string& data_directory) {
  FirstKey key{data_directory + "/admin.key", false};
  if (::access(key.file.c_str(), F_OK) == 0) return key;
  const Actor owner = local_actor();
  BJ_TRY(const std::vector<ApiKeyRow> known, store.api_keys().list(owner.organization));
  if (!known.empty()) return std::nullopt;
  BJ_TRY(const ApiKeyTable::Made made, store.api_keys().create(owner, "first", Role::kAdmin));
  BJ_CHECK(write_file_atomically(key.file, std::string(made.key.reveal()) + "\n", 0600));
  BJ_CHECK(record_act(store, data_directory, owner, "key.create", made.row.id, {{"role", "admin"}}));
  key.made = true;
  return key;
}

}  // namespace bj
