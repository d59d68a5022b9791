// JSON in ASCII: what is not becomes \\uXXXX, so that no cut falls into a character.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/utf8.h"

namespace bj {

// `text` is JSON: anything beyond ASCII in it stands within a string.
inline std::string ascii_json(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t plain = [&] {
      size_t n = 0;
      while (n < text.size() && static_cast<unsigned char>(text[n]) < 0x80) ++n;
      return n;
    }();
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    char32_t c = take_code_point(text);
    if (c >= 0x10000) {
      c -= 0x10000;
      out += fmt::format("\\u{:04x}", 0xd800 + (static_cast<unsigned>(c) >> 10));
      c = 0xdc00 + (c & 0x3ff);
    }
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
  }
  return out;
}

}  // namespace bj
