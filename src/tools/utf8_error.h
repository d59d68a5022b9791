// Why bytes are not UTF-8, in the words of Python's UnicodeDecodeError.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bj {

// "'utf-8' codec can't decode byte 0x92 in position 0: invalid start byte"; nothing: it is UTF-8.
std::optional<std::string> utf8_error(std::string_view bytes);

}  // namespace bj
