#include "server/rate_limits.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

using Held = std::vector<std::shared_ptr<KeyHold>>;
const Clock::time_point kStart = Clock::time_point() + std::chrono::hours(1);

Actor key(const std::string& id, KeyLimits limits = {}) { return {"org", "user", id, Role::kMember, limits}; }

// How many of `tries` requests pass at that time.
int passed(RateLimiter& limiter, const Actor& actor, Clock::time_point now, int tries) {
  int count = 0;
  for (int i = 0; i < tries; ++i) {
    std::shared_ptr<KeyHold> hold;
    if (!limiter.admit(actor, now, hold)) count++;
  }
  return count;
}

TEST(RateLimitsTest, ABurstPassesAndThenTheRate) {
  RateLimiter limiter({.requests_per_second = 10, .burst = 20});
  EXPECT_EQ(passed(limiter, key("a"), kStart, 50), 20);
  EXPECT_EQ(passed(limiter, key("a"), kStart, 50), 0);
  EXPECT_EQ(passed(limiter, key("a"), kStart + std::chrono::milliseconds(500), 50), 5);
  EXPECT_EQ(passed(limiter, key("a"), kStart + std::chrono::hours(1), 50), 20);
}

TEST(RateLimitsTest, OneKeysFloodIsNotAnothers) {
  RateLimiter limiter({.requests_per_second = 1, .burst = 2});
  EXPECT_EQ(passed(limiter, key("a"), kStart, 50), 2);
  EXPECT_EQ(passed(limiter, key("b"), kStart, 50), 2);
}

TEST(RateLimitsTest, ARefusalSaysWhichLimitAndWhenToComeBack) {
  RateLimiter limiter({.requests_per_second = 0.1, .burst = 1});
  std::shared_ptr<KeyHold> hold;
  EXPECT_FALSE(limiter.admit(key("a"), kStart, hold));
  hold.reset();
  const auto over = limiter.admit(key("a"), kStart, hold);
  ASSERT_TRUE(over);
  EXPECT_FALSE(hold);
  EXPECT_STREQ(over->limit, "requests");
  EXPECT_EQ(over->retry_after_s, 10);
  EXPECT_NE(over->sentence.find("0.1 requests a second"), std::string::npos) << over->sentence;
}

TEST(RateLimitsTest, AKeysOwnLimitsTakeTheServersPlaceEitherWay) {
  RateLimiter limiter({.requests_per_second = 10, .burst = 20, .runs_at_once = 1});
  KeyLimits own;
  own.requests_per_second = 1;
  own.runs_at_once = 2;
  EXPECT_EQ(passed(limiter, key("slow", own), kStart, 50), 2);  // the same seconds' worth of a burst
  own.requests_per_second = 0;
  EXPECT_EQ(passed(limiter, key("free", own), kStart, 500), 500);
  Held held(3);
  for (auto& hold : held) ASSERT_FALSE(limiter.admit(key("free", own), kStart, hold));
  EXPECT_FALSE(held[0]->take_run());
  EXPECT_FALSE(held[1]->take_run());
  EXPECT_STREQ(held[2]->take_run()->limit, "runs");
}

TEST(RateLimitsTest, RunsAreCountedUntilTheirRequestIsGone) {
  RateLimiter limiter({.runs_at_once = 2});
  Held held(3);
  for (auto& hold : held) ASSERT_FALSE(limiter.admit(key("a"), kStart, hold));
  EXPECT_FALSE(held[0]->take_run());
  EXPECT_FALSE(held[1]->take_run());
  EXPECT_TRUE(held[2]->take_run());
  held[0].reset();
  EXPECT_FALSE(held[2]->take_run());
}

TEST(RateLimitsTest, BodiesAreCountedTogetherAndOneAloneAlwaysPasses) {
  RateLimiter limiter({.body_bytes = 100});
  Held held(2);
  for (auto& hold : held) ASSERT_FALSE(limiter.admit(key("a"), kStart, hold));
  EXPECT_FALSE(held[0]->take_bytes(60));
  EXPECT_FALSE(held[0]->take_bytes(60));
  const auto over = held[1]->take_bytes(1);
  ASSERT_TRUE(over);
  EXPECT_STREQ(over->limit, "body_bytes");
  held[0].reset();
  EXPECT_FALSE(held[1]->take_bytes(90));
}

TEST(RateLimitsTest, KeysAtRestAreForgottenAndBusyOnesAreNot) {
  RateLimiter limiter({.requests_per_second = 1, .burst = 1});
  std::shared_ptr<KeyHold> busy;
  ASSERT_FALSE(limiter.admit(key("busy"), kStart, busy));
  for (size_t i = 1; i < RateLimiter::kMostAtRest; ++i) passed(limiter, key(std::to_string(i)), kStart, 1);
  EXPECT_EQ(limiter.keys(), RateLimiter::kMostAtRest);
  passed(limiter, key("late"), kStart + std::chrono::hours(1), 1);
  EXPECT_EQ(limiter.keys(), 2u);
}

}  // namespace
}  // namespace bj
