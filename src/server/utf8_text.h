// Stepping through text that may not be UTF-8.
#pragma once

#include <string_view>

namespace bj {

// The length of the UTF-8 character that the non-empty `text` begins with, 0 if there is none. Overlong forms and
// surrogates are none.
inline size_t utf8_character_size(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  const size_t size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (size == 0 || size > text.size()) return 0;
  for (size_t i = 1; i < size; ++i)
    if ((at(i) & 0xc0) != 0x80) return 0;
  if ((first == 0xe0 && at(1) < 0xa0) || (first == 0xed && at(1) >= 0xa0)) return 0;
  if ((first == 0xf0 && at(1) < 0x90) || (first == 0xf4 && at(1) >= 0x90)) return 0;
  return size;
}

inline bool is_utf8_text(std::string_view text) {
  while (!text.empty()) {
    const size_t size = utf8_character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace bj
