#include "tools/call_credential.h"

#include <algorithm>

#include "base/id.h"
#include "egress/credential_json.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kLongestVariable = 128;

bool is_variable_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name.size() <= kLongestVariable && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), fits);
}

// Takes the key out of the object: what is left is the gate's.
Result<std::string> take_variable(json::object& binding) {
  const json::value* const given = binding.if_contains("variable");
  if (given == nullptr) return std::string();
  if (!given->is_string() || !is_variable_name(std::string_view(given->get_string())))
    return fail(Code::kInvalid, "credential.variable: must be the name of an environment variable, e.g. GITHUB_TOKEN");
  std::string name(given->get_string());
  binding.erase("variable");
  return name;
}

}  // namespace

Result<CallCredential> read_binding(json::object binding) {
  CallCredential credential;
  BJ_TRY(credential.variable, take_variable(binding));
  if (!credential.variable.empty() && !binding.contains("placeholder"))
    binding["placeholder"] = "placeholder-" + new_uuid4();
  BJ_TRY(credential.gate, parse_credential_binding(std::move(binding)));
  return credential;
}

json::object binding_json(const CallCredential& credential) {
  json::object object = binding_json(credential.gate);
  if (!credential.variable.empty()) object["variable"] = credential.variable;
  return object;
}

Result<void> complete(CallCredential& credential, std::string name, Secret value) {
  BJ_CHECK(check_credential_name(name));
  BJ_CHECK(check_credential_value(value.reveal()));
  credential.gate.name = std::move(name);
  credential.gate.value = std::make_shared<const Secret>(std::move(value));
  return {};
}

Result<CallCredential> read_credential(const std::string& name, json::object object) {
  json::value* const value = object.if_contains("value");
  if (value == nullptr || !value->is_string())
    return fail(Code::kInvalid, "a credential needs a \"value\", which is a text");
  Secret secret{std::string_view(value->get_string())};
  object.erase("value");
  BJ_TRY(CallCredential credential, read_binding(std::move(object)));
  BJ_CHECK(complete(credential, name, std::move(secret)));
  return credential;
}

}  // namespace bj
