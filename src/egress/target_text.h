// Targets and ports of rules as people write them. A failure says what to write instead.
#pragma once

#include <string_view>

#include "egress/policy.h"

namespace bj {

// "example.com", "*.example.com", "192.0.2.0/24", "2001:db8::1".
Result<Target> parse_target_text(std::string_view text);
// "443", "8000-8100".
Result<PortRange> parse_port_range(std::string_view text);
// "10.0.0.5", "10.0.0.5:5432", "[fd00::5]:5432": one address that is not to be a range.
Result<PrivateAddress> parse_private_address(std::string_view text);

}  // namespace bj
