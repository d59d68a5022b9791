// UTF-8, as files claim to be and JSON must be.
#pragma once

#include <string>
#include <string_view>

namespace bj {

bool is_utf8(std::string_view text);
// Bytes that are no UTF-8 become U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace bj
