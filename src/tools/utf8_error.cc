#include "tools/utf8_error.h"

#include <fmt/format.h>

#include <algorithm>

namespace bj {
namespace {

// Bytes that a character with this first byte has; 0: none begins so.
size_t size_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

// The second byte decides over overlong forms, surrogates and what is beyond Unicode.
bool fits(unsigned char first, size_t index, unsigned char byte) {
  if ((byte & 0xc0) != 0x80) return false;
  if (index != 1) return true;
  switch (first) {
    case 0xe0: return byte >= 0xa0;
    case 0xed: return byte < 0xa0;
    case 0xf0: return byte >= 0x90;
    case 0xf4: return byte < 0x90;
    default: return true;
  }
}

std::string tell(std::string_view bytes, size_t at, size_t count, const char* why) {
  if (count == 1) {
    return fmt::format("'utf-8' codec can't decode byte 0x{:02x} in position {}: {}",
                       static_cast<unsigned char>(bytes[at]), at, why);
  }
  return fmt::format("'utf-8' codec can't decode bytes in position {}-{}: {}", at, at + count - 1, why);
}

}  // namespace

std::optional<std::string> utf8_error(std::string_view bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const size_t size = size_of(first);
    if (size == 0) return tell(bytes, at, 1, "invalid start byte");
    const size_t present = std::min(size, bytes.size() - at);
    for (size_t i = 1; i < present; ++i) {
      if (!fits(first, i, static_cast<unsigned char>(bytes[at + i]))) {
        return tell(bytes, at, i, "invalid continuation byte");
      }
    }
    if (present < size) return tell(bytes, at, present, "unexpected end of data");
    at += size;
  }
  return std::nullopt;
}

}  // namespace bj
