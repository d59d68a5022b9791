// UTF-8, as files claim to be and JSON must be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bj {

// The length of the valid sequence at the front, 0 if there is none (RFC 3629: no overlong forms, no surrogates).
inline size_t utf8_prefix(std::string_view text) {
  const auto at = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto next = [&](size_t i) { return (at(i) & 0xc0) == 0x80; };
  const unsigned first = at(0), second = at(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return next(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
    return next(1) && next(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
    return next(1) && next(2) && next(3) ? 4 : 0;
  }
  return 0;
}

inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_prefix(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Bytes that are no UTF-8 become U+FFFD.
inline std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_prefix(text);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

// Takes the first code point off `text`, which must not be empty. A byte that is no UTF-8 counts as U+FFFD, alone.
inline char32_t take_code_point(std::string_view& text) {
  const size_t length = utf8_prefix(text);
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  char32_t c = length == 0 ? 0xfffd : length == 1 ? byte(0) : byte(0) & (0xff >> (length + 1));
  for (size_t i = 1; i < length; ++i) c = c << 6 | (byte(i) & 0x3f);
  text.remove_prefix(length == 0 ? 1 : length);
  return c;
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

}  // namespace bj
