// What refuses a request because of its organization's share.
#pragma once

#include <cerrno>

#include "base/error.h"

namespace bj {

// Error::sys of what an organization's quota refuses: it has enough already, while a machine without room is kExhausted
// with another one, or with none. What alone is more than the quota is kUnprocessable: nothing makes room for it.
inline constexpr int kOverQuota = EDQUOT;
inline bool is_over_quota(const Error& error) { return error.code == Code::kExhausted && error.sys == kOverQuota; }

}  // namespace bj
