#include "egress/rate_limit.h"

#include <algorithm>
#include <cmath>

namespace bj {
namespace {

constexpr double kTurnsPerSecond = 20;
using Seconds = std::chrono::duration<double>;

}  // namespace

RateLimit::RateLimit(uint64_t per_second, Clock::time_point now)
    : per_second_(static_cast<double>(per_second)),
      turn_(std::max(1.0, std::floor(per_second_ / kTurnsPerSecond))),
      level_(per_second_),
      last_(now) {}

uint64_t RateLimit::available(Clock::time_point now) {
  if (now > last_) {
    level_ = std::min(per_second_, level_ + Seconds(now - last_).count() * per_second_);
    last_ = now;
  }
  return level_ < turn_ ? 0 : static_cast<uint64_t>(level_);
}

Clock::time_point RateLimit::next_turn() const {
  if (level_ >= turn_) return last_;
  if (per_second_ == 0) return Clock::time_point::max();
  // A tick more than computed: rounding must not wake anybody a moment too early.
  return last_ + std::chrono::ceil<Clock::duration>(Seconds((turn_ - level_) / per_second_)) + Clock::duration(1);
}

}  // namespace bj
