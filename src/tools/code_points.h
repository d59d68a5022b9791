// Code points of UTF-8 text, one at a time, and what Python calls white space among them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bj {

// Takes the first code point off `text`, which must not be empty. A byte that is no UTF-8 counts as U+FFFD, alone.
inline char32_t take_code_point(std::string_view& text) {
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  char32_t c = size == 1 ? first : first & (0xff >> (size + 1));
  bool good = size != 0 && size <= text.size();
  for (size_t i = 1; good && i < size; ++i) {
    good = (byte(i) & 0xc0) == 0x80;
    c = c << 6 | (byte(i) & 0x3f);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  good = good && c >= kLeast[size] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
  text.remove_prefix(good ? size : 1);
  return good ? c : 0xfffd;
}

inline void append_code_point(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

// Python's str.strip() without arguments: every character that str.isspace() knows.
std::string_view python_strip(std::string_view text);

}  // namespace bj
