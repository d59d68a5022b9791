// Policies as JSON, read strictly: an unknown key is refused, an empty or null list allows nothing, "*" is never
// everything. docs/network.md has the format.
//
//   {"preset": "packages",
//    "rules": [{"allow": ["api.example.com", "*.example.org"], "ports": [443, "8000-8100"]},
//              {"allow": "api.example.net", "methods": ["GET"], "paths": ["/v1/*"]},
//              {"deny": "203.0.113.0/24"}],
//    "caps": {"bytes_sent": 1048576, "connections": 32},
//    "private_addresses": ["10.0.0.5:5432"]}
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "egress/policy.h"

namespace bj {

// Who wrote the text. Only an administrator may list private addresses.
enum class PolicyAuthor { kAdministrator, kCaller };

struct PolicySource {
  std::string origin;  // "organization", "sandbox", ...
  PolicyAuthor author = PolicyAuthor::kCaller;
  std::vector<std::string> package_hosts;  // see preset_layer()
};

// A policy of one layer. null is the empty policy; a string is the name of a preset. Failures are Code::kInvalid.
Result<NetworkPolicy> parse_network_policy(const boost::json::value& value, const PolicySource& source);
Result<NetworkPolicy> parse_network_policy_text(std::string_view text, const PolicySource& source);

// One layer: as parse_network_policy reads it. Several: {"all_of": [...]} of their rules and one "caps", to be shown.
boost::json::object to_json(const NetworkPolicy& policy);
boost::json::object to_json(const Decision& decision);

}  // namespace bj
