// A token bucket: so many units a second on average, and no more than a second's worth at once. Pure: it is told the
// time.
#pragma once

#include <cstdint>

#include "base/async.h"

namespace bj {

class RateLimit {
 public:
  // Full at first. 0 a second is nothing ever.
  RateLimit(uint64_t per_second, Clock::time_point now);

  // What may be taken now. Small rests are kept back until they are worth a turn, so that whoever waits does not spin.
  uint64_t available(Clock::time_point now);
  void take(uint64_t amount) { level_ -= static_cast<double>(amount); }
  // When available() will be more than nothing, unless others take it first.
  Clock::time_point next_turn() const;

 private:
  double per_second_;
  double turn_;  // the least that is worth one
  double level_;
  Clock::time_point last_;
};

}  // namespace bj
