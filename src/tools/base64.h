// Standard base64.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bj {

std::string base64_encode(std::string_view bytes);
// Strict, as Python's b64decode(validate=True): alphabet and padding must be right.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace bj
