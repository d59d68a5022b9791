#include "api/e2b/header_rules.h"

#include <algorithm>
#include <boost/json/array.hpp>

#include "egress/credential_json.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

constexpr size_t kMostHosts = 10;
constexpr size_t kMostHeaders = 20;
constexpr size_t kLongestHeader = 64;
constexpr size_t kLongestValue = 2048;
constexpr std::string_view kReference = "${e2b.";
constexpr std::string_view kSecret = "${e2b.secrets.";
constexpr std::string_view kValueHere = "{}";  // in the gate's formats

tl::unexpected<Error> wrong(const std::string& sentence) { return fail(Code::kInvalid, "network.rules: " + sentence); }

const json::object* object_at(const json::object& from, const char* key) {
  const json::value* const found = from.if_contains(key);
  return found != nullptr && found->is_object() ? &found->get_object() : nullptr;
}

json::object* mutable_object_at(json::object& from, const char* key) {
  json::value* const found = from.if_contains(key);
  return found != nullptr && found->is_object() ? &found->get_object() : nullptr;
}

Result<void> check_text(std::string_view text) {
  const bool visible = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7F; });
  if (!visible || text.find(kValueHere) != text.npos)
    return wrong("a header's value is of visible ASCII characters and does not hold {}");
  if (text.find(kReference) != text.npos)
    return wrong("a header's value may hold one secret, and no token of an identity");
  return {};
}

Result<HeaderRule> read_header(const std::string& host, std::string_view name, const json::value& value) {
  HeaderRule rule;
  rule.host = host;
  rule.header = name;
  if (!value.is_string() || value.get_string().size() > kLongestValue || name.size() > kLongestHeader)
    return wrong("a header's name has 64 characters at most, its value 2048");
  const std::string_view text(value.get_string());
  const size_t at = text.find(kSecret);
  rule.before = text.substr(0, at);
  if (at != text.npos) {
    const size_t end = text.find('}', at);
    if (end == text.npos) return wrong("a secret is named as ${e2b.secrets.NAME}");
    rule.secret = text.substr(at + kSecret.size(), end - at - kSecret.size());
    rule.after = text.substr(end + 1);
    if (rule.secret.empty()) return wrong("a secret is named as ${e2b.secrets.NAME}");
  }
  BJ_CHECK(check_text(rule.before));
  BJ_CHECK(check_text(rule.after));
  if (rule.secret.empty() && rule.before.empty()) return wrong("a header's value is empty");
  return rule;
}

// Names and headers are the gate's to check.
Result<GateCredential> binding_of(const HeaderRule& rule) {
  Result<GateCredential> binding =
      parse_credential_binding(json::object{{"hosts", json::array{rule.host}}, {"header", rule.header}});
  if (!binding) return wrong("\"" + rule.host.substr(0, 100) + "\": " + binding.error().what);
  binding->name = "rule:" + rule.header;
  return binding;
}

Result<void> read_host(const std::string& host, const json::value& value, std::vector<HeaderRule>& rules) {
  if (!value.is_array() || value.get_array().size() > 1) return wrong("a host has a list of one rule");
  for (const json::value& one : value.get_array()) {
    const json::object* const transform = one.is_object() ? object_at(one.get_object(), "transform") : nullptr;
    if (transform == nullptr) continue;
    const json::object* const headers = object_at(*transform, "headers");
    if (headers == nullptr) continue;
    if (headers->size() > kMostHeaders) return wrong("a rule has 20 headers at most");
    for (const auto& header : *headers) {
      BJ_TRY(HeaderRule rule, read_header(host, header.key(), header.value()));
      BJ_CHECK(binding_of(rule));
      rules.push_back(std::move(rule));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<HeaderRule>> read_header_rules(const json::object& network) {
  std::vector<HeaderRule> rules;
  const json::value* const given = network.if_contains("rules");
  if (given == nullptr || given->is_null()) return rules;
  if (!given->is_object()) return wrong("must be lists of rules by host");
  if (given->get_object().size() > kMostHosts) return wrong("there may be 10 hosts");
  for (const auto& host : given->get_object()) BJ_CHECK(read_host(host.key(), host.value(), rules));
  return rules;
}

std::vector<std::string> secrets_of(const std::vector<HeaderRule>& rules) {
  std::vector<std::string> names;
  for (const HeaderRule& rule : rules) {
    const bool known = std::find(names.begin(), names.end(), rule.secret) != names.end();
    if (!rule.secret.empty() && !known) names.push_back(rule.secret);
  }
  return names;
}

void remove_secret(json::object& network, const std::string& secret) {
  const std::string reference = std::string(kSecret) + secret + "}";
  for (auto& host : network.at("rules").as_object()) {
    for (json::value& rule : host.value().as_array()) {
      json::object* const transform = rule.is_object() ? mutable_object_at(rule.get_object(), "transform") : nullptr;
      json::object* const headers = transform == nullptr ? nullptr : mutable_object_at(*transform, "headers");
      if (headers == nullptr) continue;
      json::object left;
      for (const auto& header : *headers) {
        if (header.value().as_string().find(reference) == json::string::npos)
          left.emplace(header.key(), header.value());
      }
      *headers = std::move(left);
    }
  }
}

Result<GateCredentials> gate_credentials(const std::vector<HeaderRule>& rules,
                                         const std::map<std::string, Secret>& secrets) {
  GateCredentials credentials;
  for (const HeaderRule& rule : rules) {
    BJ_TRY(GateCredential credential, binding_of(rule));
    if (rule.secret.empty()) {
      credential.format = rule.before;
      credential.value = std::make_shared<const Secret>();
    } else {
      const auto found = secrets.find(rule.secret);
      if (found == secrets.end()) return wrong("there is no secret \"" + rule.secret + "\"");
      if (const Result<void> good = check_credential_value(found->second.reveal()); !good)
        return wrong("the secret \"" + rule.secret + "\" can't stand in a header: " + good.error().what);
      credential.format = rule.before + std::string(kValueHere) + rule.after;
      credential.value = std::make_shared<const Secret>(found->second.reveal());
    }
    credentials.push_back(std::move(credential));
  }
  return credentials;
}

}  // namespace bj::e2b
