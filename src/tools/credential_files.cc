#include "tools/credential_files.h"

#include "base/actor.h"
#include "base/exact_json.h"
#include "egress/credential_json.h"
#include "sys/private_file.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMostBytes = 64 * 1024;

// Takes the text of that key out of the object; empty: there is none.
Result<std::string> take_text(json::object& object, const char* key) {
  const json::value* const value = object.if_contains(key);
  if (value == nullptr) return std::string();
  if (!value->is_string() || value->get_string().empty())
    return fail(Code::kInvalid, std::string("\"") + key + "\" must be a text");
  std::string text(value->get_string());
  object.erase(key);
  return text;
}

Result<Secret> value_in_file(const std::string& directory, const std::string& path) {
  BJ_TRY(const Secret contents, read_private_file(path.starts_with("/") ? path : directory + "/" + path, kMostBytes));
  std::string_view value = contents.reveal();
  while (value.ends_with('\n') || value.ends_with('\r')) value.remove_suffix(1);
  return Secret(value);
}

// Nothing: it is another organization's.
Result<std::optional<CallCredential>> read_object(const std::string& directory, const std::string& organization,
                                                  const std::string& name, json::object object) {
  BJ_TRY(const std::string owner, take_text(object, "organization"));
  if (organization != (owner.empty() ? kDefaultOrganization : owner)) return std::nullopt;
  BJ_TRY(const std::string value_file, take_text(object, "value_file"));
  if (value_file.empty()) {
    BJ_TRY(CallCredential credential, read_credential(name, std::move(object)));
    return credential;
  }
  BJ_TRY(Secret value, value_in_file(directory, value_file));
  BJ_TRY(CallCredential credential, read_binding(std::move(object)));
  BJ_CHECK(complete(credential, name, std::move(value)));
  return credential;
}

}  // namespace

Result<std::optional<CallCredential>> CredentialFiles::find(const std::string& organization,
                                                            const std::string& name) const {
  if (directory_.empty()) return std::nullopt;
  BJ_CHECK(check_credential_name(name));  // it becomes part of a path
  const std::string path = directory_ + "/" + name + ".json";
  const Result<Secret> text = read_private_file(path, kMostBytes);
  if (!text && text.error().code == Code::kNotFound) return std::nullopt;
  if (!text) return tl::unexpected(text.error());
  Result<json::value> parsed = parse_exactly(text->reveal());
  if (!parsed || !parsed->is_object()) return fail(Code::kInvalid, path + " must hold a JSON object");
  auto credential = read_object(directory_, organization, name, std::move(parsed->get_object()));
  if (!credential) return fail(credential.error().code, path + ": " + credential.error().what);
  return credential;
}

}  // namespace bj
