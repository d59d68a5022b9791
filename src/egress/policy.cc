#include "egress/policy.h"

#include <algorithm>

#include "egress/host_name.h"

namespace bj {
namespace {

std::optional<uint64_t> smaller(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  if (!a) return b;
  if (!b) return a;
  return std::min(*a, *b);
}

template <class Items, class Text>
std::string joined(const Items& items, Text text) {
  std::string all;
  for (const auto& item : items) all += (all.empty() ? "" : ",") + text(item);
  return all.empty() ? "(none)" : all;
}

// A rule that could match something: one with an empty list can't.
bool can_match(const NetworkRule& rule) {
  return !rule.targets.empty() && !rule.ports.empty() && (!rule.methods || !rule.methods->empty()) &&
         (!rule.paths || !rule.paths->empty());
}

bool has_allowing_rule(const std::vector<NetworkRule>& rules) {
  return std::any_of(rules.begin(), rules.end(), [](const NetworkRule& rule) {
    return rule.action == NetworkRule::Action::kAllow && can_match(rule);
  });
}

// "host", "host:port", "192.0.2.7:80", "[2001:db8::1]:80"; nothing if it is none of them.
std::optional<NetworkRule> rule_for_package_host(std::string_view text) {
  NetworkRule rule{NetworkRule::Action::kAllow, {}, {{80, 80}, {443, 443}}, {}, {}};
  const size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  if (colon != text.npos && (!bracketed || text[colon - 1] == ']')) {
    unsigned port = 0;
    for (const char c : text.substr(colon + 1)) {
      if (c < '0' || c > '9') return std::nullopt;
      port = port * 10 + static_cast<unsigned>(c - '0');
      if (port > UINT16_MAX) return std::nullopt;
    }
    if (port == 0) return std::nullopt;
    rule.ports = {{static_cast<uint16_t>(port), static_cast<uint16_t>(port)}};
    text = text.substr(0, colon);
  }
  if (bracketed) {
    if (!text.ends_with(']')) return std::nullopt;
    text = text.substr(1, text.size() - 2);
  }
  if (const auto address = IpAddress::parse(text)) {
    rule.targets.push_back({Target::Kind::kRange, {}, {*address, address->is_v6 ? 128u : 32u}});
    return rule;
  }
  auto name = normalize_host_name(text);
  if (!name || bracketed) return std::nullopt;
  rule.targets.push_back({Target::Kind::kName, std::move(*name), {}});
  return rule;
}

}  // namespace

std::string PortRange::text() const {
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

std::string Target::text() const {
  switch (kind) {
    case Kind::kName: return name;
    case Kind::kBelow: return "*." + name;
    case Kind::kRange: return range.text();
    case Kind::kPublic: return "everything public";
  }
  return {};
}

std::string NetworkRule::text() const {
  const auto same = [](const std::string& item) { return item; };
  std::string all = action == Action::kAllow ? "allow " : "deny ";
  all += joined(targets, [](const Target& target) { return target.text(); });
  if (ports != std::vector<PortRange>{PortRange{}})
    all += " ports " + joined(ports, [](const PortRange& range) { return range.text(); });
  if (methods) all += " methods " + joined(*methods, same);
  if (paths) all += " paths " + joined(*paths, same);
  return all;
}

bool is_about_requests(const NetworkPolicy& policy) {
  return std::any_of(policy.layers.begin(), policy.layers.end(), [](const PolicyLayer& layer) {
    return std::any_of(layer.rules.begin(), layer.rules.end(),
                       [](const NetworkRule& rule) { return rule.is_about_requests(); });
  });
}

bool NetworkPolicy::allows_nothing() const {
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool by_list = i == 0 && !private_addresses.empty();
    if (!by_list && !has_allowing_rule(layers[i].rules) && !has_allowing_rule(layers[i].preset_rules)) return true;
  }
  return layers.empty();
}

PolicyLayer preset_layer(NetworkPreset preset, std::string origin, const std::vector<std::string>& package_hosts) {
  PolicyLayer layer{std::move(origin), preset, {}, {}};
  if (preset == NetworkPreset::kPackages) {
    for (const std::string& host : package_hosts) {
      if (auto rule = rule_for_package_host(host)) layer.preset_rules.push_back(std::move(*rule));
    }
  } else if (preset == NetworkPreset::kOpen) {
    layer.preset_rules.push_back(
        {NetworkRule::Action::kAllow, {{Target::Kind::kPublic, {}, {}}}, {PortRange{}}, {}, {}});
  }
  return layer;
}

NetworkPolicy narrow(NetworkPolicy outer, NetworkPolicy inner) {
  if (outer.layers.empty() || inner.layers.empty()) return {};  // one of them allows nothing, so both together don't
  for (PolicyLayer& layer : inner.layers) outer.layers.push_back(std::move(layer));
  outer.caps.bytes_sent = smaller(outer.caps.bytes_sent, inner.caps.bytes_sent);
  outer.caps.bytes_received = smaller(outer.caps.bytes_received, inner.caps.bytes_received);
  outer.caps.bytes_per_second = smaller(outer.caps.bytes_per_second, inner.caps.bytes_per_second);
  outer.caps.connections = smaller(outer.caps.connections, inner.caps.connections);
  outer.caps.connections_per_second = smaller(outer.caps.connections_per_second, inner.caps.connections_per_second);
  outer.caps.names = smaller(outer.caps.names, inner.caps.names);
  return outer;
}

}  // namespace bj
