// What one key may take of the server, so that a client gone wrong leaves room for the others: requests a second (a
// bucket that fills at that rate up to the burst), runs at a time, and bytes of bodies held at a time. Asked after the
// key is known and before any work is done for it.
//
// A request holds what it takes until it and its answer are gone. Bounded: keys that are at rest are forgotten.
// Stays on the server's thread; the time is passed in.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/actor.h"
#include "base/async.h"

namespace bj {

// Of each key, unless it has its own (KeyLimits). 0: no limit.
struct RateLimits {
  double requests_per_second = 5000;
  double burst = 10'000;
  int64_t runs_at_once = 1024;
  uint64_t body_bytes = 512ull << 20;  // of requests that are being read or answered
};

struct OverLimit {
  const char* limit = "";  // "requests", "runs", "body_bytes": for metrics
  std::string sentence;
  int64_t retry_after_s = 1;
};

class RateLimiter;

// What one request has of its key's limits: given back when it goes.
class KeyHold {
 public:
  ~KeyHold();
  KeyHold(const KeyHold&) = delete;
  KeyHold& operator=(const KeyHold&) = delete;

  // One run, once a request.
  std::optional<OverLimit> take_run();
  std::optional<OverLimit> take_bytes(uint64_t bytes);

 private:
  friend class RateLimiter;
  struct Account {
    double tokens = 0;
    Clock::time_point filled_at;
    int64_t runs = 0;
    uint64_t bytes = 0;
  };
  KeyHold(std::shared_ptr<Account> account, const RateLimits& limits) : account_(std::move(account)), limits_(limits) {}

  std::shared_ptr<Account> account_;
  RateLimits limits_;  // of this key
  int64_t runs_ = 0;
  uint64_t bytes_ = 0;
};

class RateLimiter {
 public:
  static constexpr size_t kMostAtRest = 4096;  // keys

  explicit RateLimiter(RateLimits usual) : usual_(usual) {}

  // Counts a request of that key. `hold` is set unless it is one too many.
  std::optional<OverLimit> admit(const Actor& actor, Clock::time_point now, std::shared_ptr<KeyHold>& hold);
  size_t keys() const { return accounts_.size(); }

 private:
  RateLimits limits_of(const KeyLimits& own) const;
  void forget_those_at_rest(Clock::time_point now);

  RateLimits usual_;
  std::map<std::string, std::shared_ptr<KeyHold::Account>> accounts_;  // by the key's id
};

}  // namespace bj
