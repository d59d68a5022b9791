// --network: what a sandbox may reach, from one word on the command line.
#pragma once

#include <CLI/App.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "egress/network_use.h"
#include "egress/policy.h"

namespace bj {

// "none", "packages", "open", "allow:HOST[:PORT],..." (ports 80 and 443 unless one is given), JSON, or the path of a
// file with JSON. As JSON, not yet checked, for where a policy is one layer of several.
Result<boost::json::value> network_policy_json(const std::string& text);
// The same as the whole policy of a sandbox.
Result<NetworkPolicy> parse_network_flag(const std::string& text);

// What was refused, on stderr: one line each.
void complain_about_network(const NetworkUse& use);

void add_network_flag(CLI::App& command, NetworkPolicy& into);

}  // namespace bj
