#include "cli/rate_fields.h"

#include <fmt/format.h>

#include <array>

#include "cli/sizes.h"

namespace bj {
namespace {

constexpr double kMostRequests = 1e9;
constexpr uint64_t kMostRuns = 1'000'000;

template <class Number>
std::string shown(Number value) {
  return value == 0 ? "none" : fmt::format("{}", value);
}

Result<void> set_burst(const std::string& text, RateLimits& limits) {
  BJ_TRY(limits.burst, parse_rate(text));
  if (limits.burst < 1) return fail(Code::kInvalid, "a burst is 1 at least");
  return {};
}

constexpr std::array<RateField, 4> kFields = {
    RateField{"server.rate_limit", "BELLJAR_RATE_LIMIT",
              [](const std::string& text, RateLimits& limits) -> Result<void> {
                BJ_TRY(limits.requests_per_second, parse_rate(text));
                return {};
              },
              [](const RateLimits& limits) { return shown(limits.requests_per_second); }},
    RateField{"server.burst", "BELLJAR_BURST", set_burst, [](const RateLimits& limits) { return shown(limits.burst); }},
    RateField{"server.runs_at_once", "BELLJAR_RUNS_AT_ONCE",
              [](const std::string& text, RateLimits& limits) -> Result<void> {
                BJ_TRY(limits.runs_at_once, parse_runs(text));
                return {};
              },
              [](const RateLimits& limits) { return shown(limits.runs_at_once); }},
    RateField{
        "server.body_bytes", "BELLJAR_BODY_BYTES",
        [](const std::string& text, RateLimits& limits) -> Result<void> {
          BJ_TRY(limits.body_bytes, parse_size(text));
          return {};
        },
        [](const RateLimits& limits) { return limits.body_bytes == 0 ? "none" : format_size(limits.body_bytes); }},
};

}  // namespace

std::span<const RateField> rate_fields() { return kFields; }

Result<double> parse_rate(const std::string& text) {
  BJ_TRY(const double value, parse_decimal(text));
  if (value < 0 || value > kMostRequests) return fail(Code::kInvalid, "a rate is a number from 0 (no limit) to 1e9");
  return value;
}

Result<int64_t> parse_runs(const std::string& text) {
  BJ_TRY(const uint64_t value, parse_count(text));
  if (value > kMostRuns) return fail(Code::kInvalid, fmt::format("runs at once are 0 (no limit) to {}", kMostRuns));
  return static_cast<int64_t>(value);
}

}  // namespace bj
