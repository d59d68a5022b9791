// What Python calls white space.
#pragma once

#include <string_view>

#include "base/utf8.h"

namespace bj {

// Python's str.strip() without arguments: every character that str.isspace() knows.
std::string_view python_strip(std::string_view text);

}  // namespace bj
