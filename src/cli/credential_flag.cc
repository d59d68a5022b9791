#include "cli/credential_flag.h"

#include <openssl/crypto.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <cstdlib>

#include "egress/credential_json.h"
#include "sys/files.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kLargestFile = 64u << 10;

Result<std::shared_ptr<const Secret>> checked(std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  auto value = std::make_shared<const Secret>(Secret::take(std::move(text)));
  BJ_CHECK(check_credential_value(value->reveal()));
  return value;
}

Result<std::shared_ptr<const Secret>> value_of_file(const std::string& path) {
  BJ_TRY(std::string text, read_file(path, kLargestFile));
  return checked(std::move(text));
}

Result<std::shared_ptr<const Secret>> value_of_variable(const std::string& name) {
  const char* const text = std::getenv(name.c_str());
  if (text == nullptr) return fail(Code::kInvalid, "there is no variable " + name + " in the environment");
  return checked(text);
}

// Takes the part before the next colon off.
std::string next_part(std::string_view& text) {
  const size_t colon = std::min(text.find(':'), text.size());
  std::string part(text.substr(0, colon));
  text.remove_prefix(std::min(colon + 1, text.size()));
  return part;
}

Result<GateCredential> of_parts(const std::string& name, std::string_view rest) {
  const std::string source = next_part(rest), host = next_part(rest), header = next_part(rest);
  json::object binding{{"hosts", host}, {"header", header.empty() ? "Authorization" : header}};
  if (!rest.empty()) binding["format"] = std::string(rest);
  if (rest.empty() && header.empty()) binding["format"] = "Bearer {}";
  BJ_TRY(GateCredential credential, parse_credential_binding(binding));
  credential.name = name;
  BJ_TRY(credential.value, source.starts_with('@') ? value_of_file(source.substr(1)) : value_of_variable(source));
  return credential;
}

// Takes a text out of the object.
std::string taken(json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  std::string text = value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
  object.erase(key);
  return text;
}

Result<GateCredential> of_file(const std::string& path) {
  BJ_TRY(const std::string text, read_file(path, kLargestFile));
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) return fail(Code::kInvalid, path + " is no JSON object");
  json::object& object = value.get_object();
  const std::string name = taken(object, "name"), file = taken(object, "value_file"),
                    variable = taken(object, "value_env");
  if (file.empty() == variable.empty())
    return fail(Code::kInvalid, path + " must say where the value is: \"value_file\" or \"value_env\"");
  BJ_TRY(GateCredential credential, parse_credential_binding(value));
  credential.name = name;
  BJ_TRY(credential.value, file.empty() ? value_of_variable(variable) : value_of_file(file));
  return credential;
}

}  // namespace

Result<GateCredential> parse_credential_flag(const std::string& text) {
  const size_t equals = text.find('=');
  BJ_TRY(GateCredential credential, equals == std::string::npos
                                        ? of_file(text)
                                        : of_parts(text.substr(0, equals), std::string_view(text).substr(equals + 1)));
  BJ_CHECK(check_credential_name(credential.name));
  return credential;
}

void add_credential_flag(CLI::App& command, GateCredentials& into) {
  const auto add = [&into](const std::vector<std::string>& list) {
    for (const std::string& text : list) {
      Result<GateCredential> credential = parse_credential_flag(text);
      if (!credential) throw CLI::ValidationError("--credential", credential.error().what);
      into.push_back(std::move(*credential));
    }
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--credential", add,
          "a secret that the gate puts into HTTPS requests to a host, as Authorization: Bearer unless said otherwise; "
          "the source is @FILE or a variable's name. Or a file of JSON")
      ->type_name("NAME=SOURCE:HOST[:HEADER[:FORMAT]]")
      ->allow_extra_args(false);
}

}  // namespace bj
