#include "egress/policy_json.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "egress/json_parts.h"
#include "egress/target_text.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMaxText = 256 * 1024;
constexpr size_t kMaxRules = 200;
constexpr size_t kMaxPairs = 2000;  // targets times ports of all rules
constexpr size_t kMaxPrivate = 64;

Result<void> read_rule_ports(const json::value* value, const std::string& where, NetworkRule& rule) {
  if (value != nullptr) {
    BJ_TRY(rule.ports, read_ports(*value, where));
    return {};
  }
  const auto is_range = [](const Target& target) { return target.kind == Target::Kind::kRange; };
  const auto ranges = std::count_if(rule.targets.begin(), rule.targets.end(), is_range);
  if (rule.action == NetworkRule::Action::kDeny || ranges == std::ssize(rule.targets))
    rule.ports = {PortRange{}};
  else if (ranges == 0)
    rule.ports = {{80, 80}, {443, 443}};
  else
    return refused(where, "names and addresses in one rule have different usual ports: say which, or make two rules");
  return {};
}

Result<NetworkRule> read_rule(const json::value& value, const std::string& where) {
  if (!value.is_object()) return refused(where, "must be an object with \"allow\" or \"deny\"");
  const json::object& object = value.get_object();
  BJ_CHECK(check_keys(object, {"allow", "deny", "ports", "methods", "paths"}, where));
  const json::value* allow = object.if_contains("allow");
  const json::value* deny = object.if_contains("deny");
  if ((allow == nullptr) == (deny == nullptr)) return refused(where, "say either \"allow\" or \"deny\", and whom");
  NetworkRule rule;
  rule.action = allow != nullptr ? NetworkRule::Action::kAllow : NetworkRule::Action::kDeny;
  BJ_TRY(rule.targets,
         read_targets(allow != nullptr ? *allow : *deny, where + (allow != nullptr ? ".allow" : ".deny")));
  BJ_CHECK(read_rule_ports(object.if_contains("ports"), where + ".ports", rule));
  BJ_CHECK(read_request_part(object, where, rule.methods, rule.paths));
  const bool has_empty = rule.targets.empty() || rule.ports.empty() || (rule.methods && rule.methods->empty()) ||
                         (rule.paths && rule.paths->empty());
  if (deny != nullptr && has_empty)
    return refused(where, "a denial with an empty list denies nothing: leave the key out to deny all of them");
  return rule;
}

Result<std::vector<NetworkRule>> read_rules(const json::value& value) {
  std::vector<NetworkRule> rules;
  if (value.is_null()) return rules;
  if (!value.is_array())
    return refused("network.rules", "must be a list of rules; to allow everything public write \"preset\": \"open\"");
  if (value.get_array().size() > kMaxRules)
    return refused("network.rules", "has more than " + std::to_string(kMaxRules) + " rules");
  size_t pairs = 0;
  for (const json::value& item : value.get_array()) {
    BJ_TRY(NetworkRule rule, read_rule(item, "network.rules[" + std::to_string(rules.size()) + "]"));
    pairs += rule.targets.size() * rule.ports.size();
    rules.push_back(std::move(rule));
  }
  if (pairs > kMaxPairs)
    return refused("network.rules", "name too many targets and ports: join addresses to ranges, use *.names");
  return rules;
}

struct CapField {
  std::string_view key;
  std::optional<uint64_t> NetworkCaps::* member;
};
constexpr CapField kCapFields[] = {
    {"bytes_sent", &NetworkCaps::bytes_sent},
    {"bytes_received", &NetworkCaps::bytes_received},
    {"bytes_per_second", &NetworkCaps::bytes_per_second},
    {"connections", &NetworkCaps::connections},
    {"connections_per_second", &NetworkCaps::connections_per_second},
    {"names", &NetworkCaps::names},
};

Result<NetworkCaps> read_caps(const json::value& value) {
  NetworkCaps caps;
  if (!value.is_object()) return refused("network.caps", "must be an object; leave it out for no caps");
  for (const auto& item : value.get_object()) {
    const auto field = std::find_if(std::begin(kCapFields), std::end(kCapFields),
                                    [&](const CapField& one) { return one.key == std::string_view(item.key()); });
    if (field == std::end(kCapFields))
      return refused("network.caps", "there is no \"" + shown(item.key()) +
                                         "\" here; known are bytes_sent, bytes_received, bytes_per_second, "
                                         "connections, connections_per_second, names");
    if (!item.value().is_int64() || item.value().get_int64() < 0)
      return refused("network.caps." + std::string(field->key), "must be a whole number, 0 or more");
    caps.*(field->member) = static_cast<uint64_t>(item.value().get_int64());
  }
  return caps;
}

Result<std::vector<PrivateAddress>> read_private(const json::value& value, PolicyAuthor author) {
  std::vector<PrivateAddress> addresses;
  if (author != PolicyAuthor::kAdministrator)
    return refused("network.private_addresses", "only an administrator can allow these, in the organization's policy");
  BJ_TRY(const std::vector<std::string> texts, strings_of(value, "network.private_addresses"));
  if (texts.size() > kMaxPrivate) return refused("network.private_addresses", "has too many entries");
  for (const std::string& text : texts) {
    auto address = parse_private_address(text);
    if (!address) return refused("network.private_addresses", address.error().what);
    addresses.push_back(*address);
  }
  return addresses;
}

Result<NetworkPreset> read_preset(const json::value& value) {
  const std::string_view name = value.is_string() ? std::string_view(value.get_string()) : std::string_view();
  if (value.is_null() || name == "none") return NetworkPreset::kNone;
  if (name == "packages") return NetworkPreset::kPackages;
  if (name == "open") return NetworkPreset::kOpen;
  return refused("network.preset", "must be \"none\", \"packages\" or \"open\"");
}

std::string_view name_of(NetworkPreset preset) {
  switch (preset) {
    case NetworkPreset::kNone: return "none";
    case NetworkPreset::kPackages: return "packages";
    case NetworkPreset::kOpen: return "open";
  }
  return "none";
}

json::object rule_json(const NetworkRule& rule) {
  const auto same = [](const std::string& text) { return text; };
  json::object object;
  object[rule.action == NetworkRule::Action::kAllow ? "allow" : "deny"] =
      list_of(rule.targets, [](const Target& target) { return target.text(); });
  object["ports"] = list_of(rule.ports, [](const PortRange& range) { return range.text(); });
  if (rule.methods) object["methods"] = list_of(*rule.methods, same);
  if (rule.paths) object["paths"] = list_of(*rule.paths, same);
  return object;
}

json::object layer_json(const PolicyLayer& layer) {
  json::object object;
  object["preset"] = name_of(layer.preset);
  object["rules"] = list_of(layer.rules, rule_json);
  return object;
}

json::object caps_json(const NetworkCaps& caps) {
  json::object object;
  for (const CapField& field : kCapFields) {
    if (const auto& value = caps.*(field.member)) object[field.key] = *value;
  }
  return object;
}

std::string private_text(const PrivateAddress& one) {
  if (one.ports == PortRange{}) return one.address.text();
  return (one.address.is_v6 ? "[" + one.address.text() + "]" : one.address.text()) + ":" + one.ports.text();
}

}  // namespace

Result<NetworkPolicy> parse_network_policy(const json::value& value, const PolicySource& source) {
  static const json::object kEmpty;
  if (!value.is_object() && !value.is_null() && !value.is_string())
    return refused("network", "must be an object, or the name of a preset");
  const json::object& object = value.is_object() ? value.get_object() : kEmpty;
  BJ_CHECK(check_keys(object, {"preset", "rules", "caps", "private_addresses"}, "network"));
  NetworkPreset preset = NetworkPreset::kNone;
  const json::value* named = value.is_string() ? &value : object.if_contains("preset");
  if (named != nullptr) {
    BJ_TRY(preset, read_preset(*named));
  }
  NetworkPolicy policy;
  PolicyLayer layer = preset_layer(preset, source.origin, source.package_hosts);
  if (const json::value* rules = object.if_contains("rules")) {
    BJ_TRY(layer.rules, read_rules(*rules));
  }
  if (const json::value* caps = object.if_contains("caps")) {
    BJ_TRY(policy.caps, read_caps(*caps));
  }
  if (const json::value* addresses = object.if_contains("private_addresses")) {
    BJ_TRY(policy.private_addresses, read_private(*addresses, source.author));
  }
  policy.layers.push_back(std::move(layer));
  return policy;
}

Result<NetworkPolicy> parse_network_policy_text(std::string_view text, const PolicySource& source) {
  if (text.size() > kMaxText) return refused("network", "is longer than 256 KB");
  json::parse_options options;
  options.max_depth = 16;
  boost::system::error_code error;
  const json::value value = json::parse(text, error, {}, options);
  if (error) return refused("network", "is no JSON: " + error.message());
  return parse_network_policy(value, source);
}

json::object to_json(const NetworkPolicy& policy) {
  json::object object;
  if (policy.layers.size() > 1)
    object["all_of"] = list_of(policy.layers, [](const PolicyLayer& layer) {
      json::object one = layer_json(layer);
      one["origin"] = layer.origin;
      return one;
    });
  else
    object = layer_json(policy.layers.empty() ? PolicyLayer{} : policy.layers[0]);
  if (policy.caps != NetworkCaps{}) object["caps"] = caps_json(policy.caps);
  if (!policy.private_addresses.empty()) object["private_addresses"] = list_of(policy.private_addresses, private_text);
  return object;
}

json::object to_json(const Decision& decision) {
  json::object object;
  object["verdict"] = decision.verdict == Verdict::kDeny    ? "deny"
                      : decision.verdict == Verdict::kAllow ? "allow"
                                                            : "inspect";
  if (!decision.layer.empty()) object["layer"] = decision.layer;
  if (decision.rule >= 0) object["rule"] = decision.rule;
  if (!decision.rule_text.empty()) object["rule_text"] = decision.rule_text;
  if (!decision.reason.empty()) object["reason"] = decision.reason;
  return object;
}

}  // namespace bj
