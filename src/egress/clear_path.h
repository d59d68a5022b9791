// A path as rules compare it. Servers disagree about dot segments, doubled and encoded slashes, backslashes and double
// encoding; a path with any of them could mean one thing here and another there, so it is not clear.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bj {

// The path without its query; encoded letters, digits, "-._~" decoded, other escapes in capitals. Nothing: not clear.
std::optional<std::string> clear_path(std::string_view path);

// "/exact" or "/prefix/*".
bool path_matches(std::string_view pattern, std::string_view clear);

}  // namespace bj
