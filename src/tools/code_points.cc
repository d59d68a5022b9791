#include "tools/code_points.h"

namespace bj {
namespace {

bool is_space(char32_t c) {
  return (c >= 0x9 && c <= 0xd) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

}  // namespace

std::string_view python_strip(std::string_view text) {
  size_t first = text.size();
  size_t last = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t at = text.size() - rest.size();
    if (is_space(take_code_point(rest))) continue;
    if (first == text.size()) first = at;
    last = text.size() - rest.size();
  }
  return first < last ? text.substr(first, last - first) : std::string_view();
}

}  // namespace bj
