#include "egress/clear_path.h"

#include <algorithm>

namespace bj {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_unreserved(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

// An escape that some server takes for something else than a byte of a segment: / \ NUL, control, and a second "%".
bool is_treacherous(int c) { return c == '/' || c == '\\' || c == '%' || c == ';' || c < 0x20 || c == 0x7F; }

bool is_dot_segment(std::string_view segment) {
  segment = segment.substr(0, segment.find(';'));  // "..;" is ".." to some
  return segment == "." || segment == "..";
}

bool has_odd_segments(std::string_view path) {
  if (path.find("//") != path.npos) return true;
  for (size_t begin = 1; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (is_dot_segment(path.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

std::optional<std::string> clear_path(std::string_view path) {
  path = path.substr(0, path.find('?'));
  if (!path.starts_with('/')) return std::nullopt;
  std::string clear;
  for (size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (c <= ' ' || c >= 0x7F || c == '\\' || c == '#') return std::nullopt;  // char is signed: not ASCII is below ' '
    if (c != '%') {
      clear += c;
      continue;
    }
    const int high = i + 2 < path.size() ? hex_value(path[i + 1]) : -1;
    const int low = i + 2 < path.size() ? hex_value(path[i + 2]) : -1;
    if (high < 0 || low < 0 || is_treacherous(high * 16 + low)) return std::nullopt;
    if (const int byte = high * 16 + low; is_unreserved(byte)) {
      clear += static_cast<char>(byte);
    } else {
      static constexpr char kDigits[] = "0123456789ABCDEF";
      clear += {'%', kDigits[high], kDigits[low]};
    }
    i += 2;
  }
  if (has_odd_segments(clear)) return std::nullopt;
  return clear;
}

bool path_matches(std::string_view pattern, std::string_view clear) {
  if (!pattern.ends_with("/*")) return pattern == clear;
  return clear.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace bj
