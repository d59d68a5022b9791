// --network: what a sandbox may reach, from one word on the command line.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "egress/network_use.h"
#include "egress/policy.h"

namespace bj {

// "none", "packages", "open", "allow:HOST[:PORT],..." (ports 80 and 443 unless one is given), or a JSON file's path.
Result<NetworkPolicy> parse_network_flag(const std::string& text);

// What was refused, on stderr: one line each.
void complain_about_network(const NetworkUse& use);

void add_network_flag(CLI::App& command, NetworkPolicy& into);

}  // namespace bj
