#include "server/rate_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bj {
namespace {

constexpr double kUsualBurstSeconds = 2;
constexpr auto kAtRest = std::chrono::minutes(1);

}  // namespace

KeyHold::~KeyHold() {
  account_->runs -= runs_;
  account_->bytes -= bytes_;
}

std::optional<OverLimit> KeyHold::take_run() {
  if (limits_.runs_at_once > 0 && account_->runs >= limits_.runs_at_once) {
    return OverLimit{
        "runs", fmt::format("This key has {} runs under way, which is its limit; wait for one to end", account_->runs)};
  }
  account_->runs++;
  runs_++;
  return std::nullopt;
}

std::optional<OverLimit> KeyHold::take_bytes(uint64_t bytes) {
  // A single body is the route's matter: a key that holds nothing else may always send one.
  if (limits_.body_bytes > 0 && account_->bytes > bytes_ && account_->bytes + bytes > limits_.body_bytes) {
    return OverLimit{"body_bytes",
                     fmt::format("The bodies of this key's requests may have {} bytes at a time together; "
                                 "wait for one to be answered",
                                 limits_.body_bytes)};
  }
  account_->bytes += bytes;
  bytes_ += bytes;
  return std::nullopt;
}

RateLimits RateLimiter::limits_of(const KeyLimits& own) const {
  RateLimits limits = usual_;
  if (own.requests_per_second) {
    const double seconds =
        usual_.requests_per_second > 0 ? usual_.burst / usual_.requests_per_second : kUsualBurstSeconds;
    limits.requests_per_second = *own.requests_per_second;
    limits.burst = *own.requests_per_second * seconds;
  }
  limits.burst = std::max(limits.burst, 1.0);  // or nothing would ever pass
  if (own.runs_at_once) limits.runs_at_once = *own.runs_at_once;
  return limits;
}

std::optional<OverLimit> RateLimiter::admit(const Actor& actor, Clock::time_point now, std::shared_ptr<KeyHold>& hold) {
  const RateLimits limits = limits_of(actor.limits);
  if (accounts_.size() >= kMostAtRest && !accounts_.contains(actor.key)) forget_those_at_rest(now);
  std::shared_ptr<KeyHold::Account>& account = accounts_[actor.key];
  if (!account) {
    account = std::make_shared<KeyHold::Account>();
    account->tokens = limits.burst;
    account->filled_at = now;
  }
  const double seconds = std::max(0.0, std::chrono::duration<double>(now - account->filled_at).count());
  account->tokens = std::min(limits.burst, account->tokens + seconds * limits.requests_per_second);
  account->filled_at = now;
  if (limits.requests_per_second > 0) {
    if (account->tokens < 1) {
      const double wait = std::min((1 - account->tokens) / limits.requests_per_second, 3600.0);
      return OverLimit{"requests",
                       fmt::format("This key may make {:g} requests a second; slow down", limits.requests_per_second),
                       std::max<int64_t>(1, static_cast<int64_t>(std::ceil(wait)))};
    }
    account->tokens -= 1;
  }
  hold = std::shared_ptr<KeyHold>(new KeyHold(account, limits));
  return std::nullopt;
}

// Whoever holds something keeps its account; an account made anew is full, so only those may go that would be full
// again.
void RateLimiter::forget_those_at_rest(Clock::time_point now) {
  std::erase_if(accounts_, [now](const auto& entry) {
    const KeyHold::Account& account = *entry.second;
    return account.runs == 0 && account.bytes == 0 && entry.second.use_count() == 1 &&
           now - account.filled_at > kAtRest;
  });
}

}  // namespace bj
