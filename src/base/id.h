// Ids: a prefix that says what a thing is, and a random uuid4 ("tool-9f1c…"). Nobody can guess another's.
#pragma once

#include <sys/random.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace bj {

// Aborts if the kernel has no randomness to give: an id that can be guessed is worse than no server.
inline std::string new_uuid4() {
  std::array<uint8_t, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (size_t i = 0; i < bytes.size(); i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kHex[bytes[i] >> 4];
    text += kHex[bytes[i] & 15];
  }
  return text;
}

inline std::string new_id(std::string_view prefix) { return std::string(prefix) + "-" + new_uuid4(); }

// A whole lowercase uuid4: version 4, variant 10xx.
inline bool is_uuid4(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (c != '-') return false;
    } else if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
      return false;
    }
  }
  return text[14] == '4' && (text[19] == '8' || text[19] == '9' || text[19] == 'a' || text[19] == 'b');
}

// "<prefix>-<uuid4>" and nothing else: what paths and managers demand. The prefix is given without its dash.
inline bool is_id(std::string_view prefix, std::string_view text) {
  return text.size() == prefix.size() + 37 && text.starts_with(prefix) && text[prefix.size()] == '-' &&
         is_uuid4(text.substr(prefix.size() + 1));
}

// What Letta's models accept in an `id` field: the prefix, a dash, eight hexadecimal digits of either case, anything.
inline bool is_loose_id(std::string_view prefix, std::string_view text) {
  if (text.size() < prefix.size() + 9 || !text.starts_with(prefix) || text[prefix.size()] != '-') return false;
  for (const char c : text.substr(prefix.size() + 1, 8)) {
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))) return false;
  }
  return true;
}

}  // namespace bj
