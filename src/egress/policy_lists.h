// Policies from the simpler vocabularies that sandbox APIs have: a flag for internet access, lists of what is allowed
// and denied. What such a list can't say safely is refused with a sentence, not guessed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "egress/policy.h"

namespace bj {

// "Internet access": on is the preset `open`, off or unsaid is `none`.
NetworkPolicy policy_of_internet_flag(std::optional<bool> internet_access, std::string origin);

// E2B's fields. `allow_out` (address, range, name, "*.name") beats `deny_out` (address, range), which beats what
// `internet_access` says of the rest; false is the same as "0.0.0.0/0" in `deny_out`. A name in `allow_out` needs that.
struct OutboundLists {
  NetworkPreset unsaid = NetworkPreset::kNone;  // without `internet_access`: the server's default for such clients
  std::optional<bool> internet_access;
  std::vector<std::string> allow_out;
  std::vector<std::string> deny_out;
};
Result<NetworkPolicy> policy_of_outbound_lists(const OutboundLists& lists, std::string origin);

// Daytona's fields. `block_all` wins; with one of the lists only what they name is allowed (comma-separated, ranges of
// IPv4, names; ten each); with neither list it is `unsaid`. An empty list allows nothing.
struct AllowLists {
  NetworkPreset unsaid = NetworkPreset::kNone;  // the server's default for such clients
  bool block_all = false;
  std::optional<std::string> network_allow_list;
  std::optional<std::string> domain_allow_list;
};
Result<NetworkPolicy> policy_of_allow_lists(const AllowLists& lists, std::string origin);

}  // namespace bj
