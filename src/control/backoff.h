// When a command that failed is tried again, and whether at all.
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"

namespace bj {

inline constexpr int64_t kMostAttempts = 5;

// Microseconds to wait after so many attempts: 0.2 s, 0.8 s, 3.2 s, 12.8 s. Nothing: it is dead, because the same would
// happen again or because it was tried often enough.
inline std::optional<int64_t> pause_before_retry(Code failure, int64_t attempts) {
  const bool may_pass = failure == Code::kBusy || failure == Code::kUnavailable || failure == Code::kExhausted;
  if (!may_pass || attempts >= kMostAttempts) return std::nullopt;
  int64_t pause_us = 200'000;
  for (int64_t i = 1; i < attempts; ++i) pause_us *= 4;
  return pause_us;
}

}  // namespace bj
