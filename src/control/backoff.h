// When a command that failed is tried again, and whether at all.
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "store/quota.h"

namespace bj {

inline constexpr int64_t kMostAttempts = 5;

// Microseconds to wait after so many attempts: 0.2 s, 0.8 s, 3.2 s, 12.8 s. Nothing: it is dead, because the same would
// happen again (to wait makes no room in a quota) or because it was tried often enough.
inline std::optional<int64_t> pause_before_retry(const Error& failure, int64_t attempts) {
  const bool may_pass = failure.code == Code::kBusy || failure.code == Code::kUnavailable ||
                        (failure.code == Code::kExhausted && !is_over_quota(failure));
  if (!may_pass || attempts >= kMostAttempts) return std::nullopt;
  int64_t pause_us = 200'000;
  for (int64_t i = 1; i < attempts; ++i) pause_us *= 4;
  return pause_us;
}

}  // namespace bj
