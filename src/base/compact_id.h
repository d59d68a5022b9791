// Ids that stand in host names and paths of every API: a prefix and 26 characters of a-z and 2-7, 130 random bits.
#pragma once

#include <sys/random.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace bj {

inline constexpr std::string_view kCompactAlphabet = "abcdefghijklmnopqrstuvwxyz234567";

// Aborts if the kernel has no randomness to give, as new_uuid4() does.
inline std::string new_compact_id(std::string_view prefix) {
  std::array<uint8_t, 26> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  std::string text(prefix);
  for (const uint8_t byte : bytes) text += kCompactAlphabet[byte & 31];
  return text;
}

inline bool is_compact_id(std::string_view prefix, std::string_view text) {
  return text.size() == prefix.size() + 26 && text.starts_with(prefix) &&
         text.find_first_not_of(kCompactAlphabet, prefix.size()) == std::string_view::npos;
}

}  // namespace bj
