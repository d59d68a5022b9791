// The limits of keys as settings: `[server] rate_limit = 100` in the config file, BELLJAR_RATE_LIMIT in the
// environment.
#pragma once

#include <span>
#include <string>

#include "base/error.h"
#include "server/rate_limits.h"

namespace bj {

struct RateField {
  const char* name;      // "server.rate_limit"
  const char* variable;  // "BELLJAR_RATE_LIMIT"
  Result<void> (*set)(const std::string& text, RateLimits& limits);
  std::string (*text)(const RateLimits& limits);
};
std::span<const RateField> rate_fields();

inline Result<void> set_rate(const RateField& field, const std::string& text, RateLimits& limits) {
  return field.set(text, limits);
}
// "none" for no limit.
inline std::string rate_text(const RateField& field, const RateLimits& limits) { return field.text(limits); }

// Of one key: `belljar key create --rate 10 --runs 2`. 0: no limit.
Result<double> parse_rate(const std::string& text);
Result<int64_t> parse_runs(const std::string& text);

}  // namespace bj
