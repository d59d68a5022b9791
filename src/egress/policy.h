// What a sandbox may reach, as data. Nothing is allowed that no rule allows: an empty policy is a closed network.
//
// A policy is a stack of layers (say an organization's, a template's, a sandbox's, a call's), the outermost first. Each
// layer has rules, read from the top: the first that matches decides, none matching is a denial. A connection must be
// allowed by every layer, so an inner layer can only take away. Addresses that are not public are denied before any
// rule is asked, unless the outermost layer, which only an administrator writes, lists that very address.
//
// The gate asks in this order, each with what it knows then:
//   decide_name      when a name is to be resolved (DNS question, CONNECT or SOCKS by name), before anything leaves
//   decide_address   on the resolved address, which is then the one connected to; also with the name found in SNI or
//                    Host when the program connected to a bare address
//   decide_http      on each request, where decide_address said kInspect
// Plain values; reading from several threads is fine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "egress/ip_address.h"

namespace bj {

struct PortRange {
  uint16_t first = 1;
  uint16_t last = 65535;

  bool contains(uint16_t port) const { return first <= port && port <= last; }
  std::string text() const;  // "443", "8000-8100"
  auto operator<=>(const PortRange&) const = default;
};

// A place that a rule speaks of.
struct Target {
  enum class Kind { kName, kBelow, kRange, kPublic };
  Kind kind = Kind::kName;
  std::string name;  // kName: the name itself; kBelow: what stands behind "*."
  Cidr range{};

  std::string text() const;
  bool operator==(const Target&) const = default;
};

struct NetworkRule {
  enum class Action { kAllow, kDeny };
  Action action = Action::kDeny;
  std::vector<Target> targets;                      // any of them; none: the rule matches nothing
  std::vector<PortRange> ports;                     // any of them; none: the rule matches nothing
  std::optional<std::vector<std::string>> methods;  // absent: any. Present makes it a rule about HTTP requests
  std::optional<std::vector<std::string>> paths;    // "/exact" or "/prefix/*"; absent: any

  bool is_about_requests() const { return methods || paths; }
  std::string text() const;  // "allow api.example.com ports 443 methods GET paths /v1/*"
  bool operator==(const NetworkRule&) const = default;
};

// Absent: no cap. Over a sandbox's life, both kinds of addresses and all connections together.
struct NetworkCaps {
  std::optional<uint64_t> bytes_sent;        // out of the sandbox
  std::optional<uint64_t> bytes_received;    // into it
  std::optional<uint64_t> bytes_per_second;  // both ways together
  std::optional<uint64_t> connections;       // open at a time
  std::optional<uint64_t> connections_per_second;
  std::optional<uint64_t> names;  // different names that may be asked for

  bool operator==(const NetworkCaps&) const = default;
};

// An address that is not public and that an administrator allowed all the same.
struct PrivateAddress {
  IpAddress address;
  PortRange ports;

  bool operator==(const PrivateAddress&) const = default;
};

enum class NetworkPreset { kNone, kPackages, kOpen };

struct PolicyLayer {
  std::string origin;  // whose it is, for receipts: "organization", "call"
  NetworkPreset preset = NetworkPreset::kNone;
  std::vector<NetworkRule> rules;  // as written, before the preset's
  std::vector<NetworkRule> preset_rules;

  bool operator==(const PolicyLayer&) const = default;
};

struct NetworkPolicy {
  std::vector<PolicyLayer> layers;  // outermost first; none: nothing is allowed
  NetworkCaps caps;
  std::vector<PrivateAddress> private_addresses;  // of the outermost layer

  // No rule of some layer could ever allow anything: the sandbox needs no gate.
  bool allows_nothing() const;
  bool operator==(const NetworkPolicy&) const = default;
};

// Some rule speaks of methods or paths.
bool is_about_requests(const NetworkPolicy& policy);

// What a preset means here. Hosts of the configured package indexes: "pypi.org", "mirror.example.org:8080",
// "192.0.2.7:3141".
PolicyLayer preset_layer(NetworkPreset preset, std::string origin, const std::vector<std::string>& package_hosts);

// One policy of both: what either denies is denied, caps are the smaller ones, private addresses are the outer's only.
NetworkPolicy narrow(NetworkPolicy outer, NetworkPolicy inner);

enum class Verdict {
  kDeny,
  kAllow,
  kInspect,  // only as HTTP of which each request is decided by decide_http; anything else on it is denied
};

// With what a receipt needs. `rule` counts from 0 in the layer's rules, preset rules behind; -1: no rule made it.
struct Decision {
  Verdict verdict = Verdict::kDeny;
  std::string layer;  // origin of the layer that decided; empty: the gate's own prohibitions
  int rule = -1;
  std::string rule_text;
  std::string reason;  // a sentence for the program and the receipt: "no rule allows evil.example"

  bool denied() const { return verdict == Verdict::kDeny; }
};

// May this name be resolved at all? `ports`: on which some address of it could be allowed, for the kernel's set;
// sorted, not touching each other. Any spelling of the name is fine: it is normalized first.
struct NameDecision : Decision {
  std::string name;  // normalized; empty if it is no name
  std::vector<PortRange> ports;
};
NameDecision decide_name(const NetworkPolicy& policy, std::string_view host);

// Where this server lives: never reachable from a sandbox, public or not, unless listed in private_addresses.
struct OwnAddresses {
  std::vector<IpAddress> addresses;
  bool has(const IpAddress& address) const { return std::ranges::find(addresses, address) != addresses.end(); }
};

using AddressDecision = Decision;
AddressDecision decide_address(const NetworkPolicy& policy, const OwnAddresses& own,
                               const std::optional<std::string>& name, const IpAddress& address, uint16_t port);

// One HTTP request, plain or opened. `host` is the name (or address) the connection was made to, which the caller has
// compared with Host; `address` the one connected to, so that rules about ranges hold as well. `path` is the target's
// path, a query behind it is ignored. Paths that servers read differently (dot segments, "//", encoded slashes,
// backslashes) are denied wherever a rule looks at paths.
using HttpDecision = Decision;
struct HttpRequestFacts {
  std::optional<std::string> host;
  IpAddress address;
  uint16_t port = 0;
  std::string_view method;
  std::string_view path;
  bool overrides_method = false;  // HttpHead::overrides_method
  bool overrides_path = false;
};
HttpDecision decide_http(const NetworkPolicy& policy, const HttpRequestFacts& request);

// Which bare addresses and ports some rule could allow, for the kernel's set; a superset: decide_address has the last
// word, and ranges_that_are_not_public() must be kept out beside private_addresses.
struct DirectRange {
  Cidr range;
  PortRange ports;

  auto operator<=>(const DirectRange&) const = default;
};
std::vector<DirectRange> direct_ranges(const NetworkPolicy& policy);

}  // namespace bj
