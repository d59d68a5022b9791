// The decisions of policy.h: how a rule matches, what a layer says, what the layers say together.
#include <algorithm>

#include "egress/clear_path.h"
#include "egress/host_name.h"
#include "egress/policy.h"
#include "egress/port_set.h"
#include "launcher/gate_control.h"

namespace bj {
namespace {

using Action = NetworkRule::Action;

// What is known of a connection at some moment. Not set: not known yet, or there is none.
struct Subject {
  std::optional<std::string> name;  // normalized
  std::optional<IpAddress> address;
  uint16_t port = 0;

  std::string text() const { return name ? *name : address ? address->text() : "this"; }
};

// A rule of a layer by its number: the layer's own first, then the preset's.
const NetworkRule& rule_at(const PolicyLayer& layer, size_t number) {
  return number < layer.rules.size() ? layer.rules[number] : layer.preset_rules[number - layer.rules.size()];
}

size_t rule_count(const PolicyLayer& layer) { return layer.rules.size() + layer.preset_rules.size(); }

bool matches(const Target& target, const Subject& subject) {
  switch (target.kind) {
    case Target::Kind::kName: return subject.name == target.name;
    case Target::Kind::kBelow: return subject.name && is_below(*subject.name, target.name);
    case Target::Kind::kRange:
      return subject.address &&
             (target.range.contains(*subject.address) || target.range.contains(reached_by(*subject.address)));
    case Target::Kind::kPublic: return !subject.address || kind_of(*subject.address) == AddressKind::kPublic;
  }
  return false;
}

// A rule with an empty list of methods or paths matches no request, so it matches no place either.
bool matches_place(const NetworkRule& rule, const Subject& subject) {
  if ((rule.methods && rule.methods->empty()) || (rule.paths && rule.paths->empty())) return false;
  return std::any_of(rule.targets.begin(), rule.targets.end(),
                     [&](const Target& target) { return matches(target, subject); });
}

bool matches_port(const NetworkRule& rule, uint16_t port) {
  return std::any_of(rule.ports.begin(), rule.ports.end(), [&](PortRange range) { return range.contains(port); });
}

bool same_but_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return (x >= 'a' && x <= 'z' ? x - 'a' + 'A' : x) == (y >= 'a' && y <= 'z' ? y - 'a' + 'A' : y);
  });
}

// Methods are case-sensitive, but some servers don't know: a denial holds in any case.
bool matches_method(const NetworkRule& rule, std::string_view method) {
  if (!rule.methods) return true;
  return std::any_of(rule.methods->begin(), rule.methods->end(), [&](const std::string& listed) {
    return rule.action == Action::kDeny ? same_but_case(listed, method) : listed == method;
  });
}

bool matches_path(const NetworkRule& rule, std::string_view clear) {
  if (!rule.paths) return true;
  return std::any_of(rule.paths->begin(), rule.paths->end(),
                     [&](const std::string& pattern) { return path_matches(pattern, clear); });
}

Decision by_rule(const PolicyLayer& layer, size_t number, Verdict verdict, std::string reason) {
  return {verdict, layer.origin, static_cast<int>(number), rule_at(layer, number).text(), std::move(reason)};
}

Decision denied_by_rule(const PolicyLayer& layer, size_t number, const Subject& subject) {
  return by_rule(layer, number, Verdict::kDeny,
                 "the rule \"" + rule_at(layer, number).text() + "\" denies " + subject.text());
}

Decision denied_by_silence(const PolicyLayer& layer, const std::string& what) {
  return {Verdict::kDeny, layer.origin, -1, {}, "no rule allows " + what};
}

// What a layer says of a connection, before a request is known. A rule about requests can't decide yet; from there on
// the connection is at best one to be inspected.
Decision ask_layer(const PolicyLayer& layer, const Subject& subject, bool listed) {
  std::optional<size_t> about_requests, allows_requests;
  for (size_t i = 0; i < rule_count(layer); ++i) {
    const NetworkRule& rule = rule_at(layer, i);
    if (!matches_place(rule, subject) || !matches_port(rule, subject.port)) continue;
    if (rule.is_about_requests()) {
      if (!about_requests) about_requests = i;
      if (rule.action == Action::kAllow && !allows_requests) allows_requests = i;
      continue;
    }
    if (rule.action == Action::kAllow)
      return by_rule(layer, about_requests.value_or(i), about_requests ? Verdict::kInspect : Verdict::kAllow, {});
    if (!allows_requests) return denied_by_rule(layer, i, subject);
    break;
  }
  if (allows_requests) return by_rule(layer, *allows_requests, Verdict::kInspect, {});
  if (listed) return {about_requests ? Verdict::kInspect : Verdict::kAllow, layer.origin, -1, "private_addresses", {}};
  return denied_by_silence(layer, subject.text() + " on port " + std::to_string(subject.port));
}

// The first denial, or else the narrowest that was said, the innermost layer's if all say the same.
template <class Ask>
Decision ask_all(const NetworkPolicy& policy, Ask ask) {
  Decision together{Verdict::kDeny, {}, -1, {}, "the policy is empty: nothing is allowed"};
  for (size_t i = 0; i < policy.layers.size(); ++i) {
    Decision decision = ask(policy.layers[i], i == 0);
    if (decision.denied()) return decision;
    const bool narrower = together.verdict != Verdict::kInspect || decision.verdict == Verdict::kInspect;
    if (i == 0 || narrower) together = std::move(decision);
  }
  return together;
}

bool is_listed(const NetworkPolicy& policy, const IpAddress& address, uint16_t port) {
  return std::any_of(policy.private_addresses.begin(), policy.private_addresses.end(),
                     [&](const PrivateAddress& one) { return one.address == address && one.ports.contains(port); });
}

// Which ports of a name some rule of this layer could allow, and which rule is to be cited for it.
Decision ask_layer_for_name(const PolicyLayer& layer, const Subject& subject, std::vector<PortRange>& ports) {
  PortSet left = PortSet::all(), allowed;
  std::optional<size_t> allowing, denying;
  for (size_t i = 0; i < rule_count(layer); ++i) {
    const NetworkRule& rule = rule_at(layer, i);
    if (!matches_place(rule, subject)) continue;
    const PortSet of_rule(rule.ports);
    if (rule.action == Action::kAllow && !left.common(of_rule).empty()) {
      allowed = allowed.joined(left.common(of_rule));
      if (!allowing) allowing = i;
    }
    if (rule.action == Action::kDeny && !rule.is_about_requests() && !denying) denying = i;
    if (!rule.is_about_requests()) left = left.without(of_rule);
  }
  ports = PortSet(ports).common(allowed).ranges();
  if (!ports.empty()) return by_rule(layer, *allowing, Verdict::kAllow, {});
  if (denying && !allowing) return denied_by_rule(layer, *denying, subject);
  return denied_by_silence(layer, subject.text());
}

// What a layer says of one request. Rules about requests decide like all others now.
Decision ask_layer_for_request(const PolicyLayer& layer, const Subject& subject, const HttpRequestFacts& request,
                               const std::optional<std::string>& clear, bool listed) {
  for (size_t i = 0; i < rule_count(layer); ++i) {
    const NetworkRule& rule = rule_at(layer, i);
    if (!matches_place(rule, subject) || !matches_port(rule, subject.port)) continue;
    if (rule.paths && !clear)
      return by_rule(layer, i, Verdict::kDeny, "the path could be read in two ways, and a rule depends on it");
    if (rule.paths && request.overrides_path)
      return by_rule(layer, i, Verdict::kDeny, "the request overrides its path, and a rule depends on it");
    if (rule.methods && request.overrides_method)
      return by_rule(layer, i, Verdict::kDeny, "the request overrides its method, and a rule depends on it");
    if (!matches_method(rule, request.method) || (rule.paths && !matches_path(rule, *clear))) continue;
    if (rule.action == Action::kAllow) return by_rule(layer, i, Verdict::kAllow, {});
    return denied_by_rule(layer, i, subject);
  }
  if (listed) return {Verdict::kAllow, layer.origin, -1, "private_addresses", {}};
  return denied_by_silence(layer, "this request to " + subject.text());
}

// A given name that is none is a denial, whatever the address.
std::optional<Decision> put_name(const std::optional<std::string>& name, Subject& subject) {
  if (!name) return std::nullopt;
  auto normalized = normalize_host_name(*name);
  if (!normalized) return Decision{Verdict::kDeny, {}, -1, {}, normalized.error().what};
  subject.name = std::move(*normalized);
  return std::nullopt;
}

}  // namespace

NameDecision decide_name(const NetworkPolicy& policy, std::string_view host) {
  NameDecision decision;
  auto name = normalize_host_name(host);
  if (!name) {
    decision.reason = name.error().what;
    return decision;
  }
  const Subject subject{*name, {}, 0};
  std::vector<PortRange> ports = PortSet::all().ranges();
  static_cast<Decision&>(decision) =
      ask_all(policy, [&](const PolicyLayer& layer, bool) { return ask_layer_for_name(layer, subject, ports); });
  decision.name = std::move(*name);
  if (!gate_keeps(GateControl::kNames) && decision.denied()) {
    decision.verdict = Verdict::kAllow;
    ports = {{80, 80}, {443, 443}};
  }
  if (!decision.denied()) decision.ports = std::move(ports);
  return decision;
}

AddressDecision decide_address(const NetworkPolicy& policy, const OwnAddresses& own,
                               const std::optional<std::string>& name, const IpAddress& address, uint16_t port) {
  Subject subject{{}, address, port};
  if (auto denial = put_name(name, subject)) return *denial;
  const AddressKind kind = kind_of(address);
  const bool is_own = own.has(reached_by(address));
  const bool listed = is_listed(policy, address, port);
  if ((kind != AddressKind::kPublic || is_own) && !listed && gate_keeps(GateControl::kPrivate)) {
    const std::string what(is_own ? "an address of this server" : describe(kind));
    const std::string who = name ? *subject.name + " is at " + address.text() + ", " : address.text() + " is ";
    return {Verdict::kDeny, {}, -1, {}, who + what + ", which only an administrator can allow"};
  }
  if (!gate_keeps(GateControl::kDecision)) return {Verdict::kAllow, {}, -1, {}, {}};
  return ask_all(
      policy, [&](const PolicyLayer& layer, bool outermost) { return ask_layer(layer, subject, outermost && listed); });
}

HttpDecision decide_http(const NetworkPolicy& policy, const HttpRequestFacts& request) {
  if (!gate_keeps(GateControl::kRequests)) return {Verdict::kAllow, {}, -1, {}, {}};
  Subject subject{{}, request.address, request.port};
  if (auto denial = put_name(request.host, subject)) return *denial;
  const std::optional<std::string> clear = clear_path(request.path);
  const bool listed = is_listed(policy, request.address, request.port);
  return ask_all(policy, [&](const PolicyLayer& layer, bool outermost) {
    return ask_layer_for_request(layer, subject, request, clear, outermost && listed);
  });
}

}  // namespace bj
