#include "egress/rate_limit.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Clock::time_point kStart = Clock::time_point(seconds(1000));

TEST(RateLimitTest, ASecondsWorthMayGoAtOnceAndNoMore) {
  RateLimit limit(1000, kStart);
  EXPECT_EQ(limit.available(kStart), 1000u);
  limit.take(1000);
  EXPECT_EQ(limit.available(kStart), 0u);
  EXPECT_EQ(limit.available(kStart + seconds(60)), 1000u);
}

TEST(RateLimitTest, WhatWasTakenComesBackWithTime) {
  RateLimit limit(1000, kStart);
  limit.take(1000);
  EXPECT_EQ(limit.available(kStart + milliseconds(500)), 500u);
}

TEST(RateLimitTest, ARestThatIsNotWorthATurnIsKeptBack) {
  RateLimit limit(1000, kStart);
  limit.take(990);
  EXPECT_EQ(limit.available(kStart), 0u);
  const Clock::time_point turn = limit.next_turn();
  EXPECT_GT(turn, kStart);
  EXPECT_GE(limit.available(turn), 50u);
}

TEST(RateLimitTest, EveryTurnThatIsWaitedForComes) {
  for (const uint64_t rate : {1ull, 2ull, 3ull, 7ull, 999ull, 1ull << 20, 1ull << 40}) {
    RateLimit limit(rate, kStart);
    Clock::time_point now = kStart;
    for (int i = 0; i < 1000; ++i) {
      limit.take(limit.available(now));
      now = limit.next_turn();
      ASSERT_GT(limit.available(now), 0u) << rate << " " << i;
    }
  }
}

TEST(RateLimitTest, OverALongTimeItIsTheRate) {
  RateLimit limit(1000, kStart);
  uint64_t taken = 0;
  for (Clock::time_point now = kStart; now < kStart + seconds(10); now += milliseconds(7)) {
    const uint64_t some = std::min<uint64_t>(limit.available(now), 333);
    limit.take(some);
    taken += some;
  }
  EXPECT_LE(taken, 11'000u);
  EXPECT_GE(taken, 10'800u);
}

TEST(RateLimitTest, NothingASecondIsNothingEver) {
  RateLimit limit(0, kStart);
  EXPECT_EQ(limit.available(kStart + seconds(1'000'000)), 0u);
  EXPECT_EQ(limit.next_turn(), Clock::time_point::max());
}

TEST(RateLimitTest, AClockThatStandsStillGivesNothing) {
  RateLimit limit(10, kStart);
  limit.take(10);
  EXPECT_EQ(limit.available(kStart), 0u);
  EXPECT_EQ(limit.available(kStart - seconds(5)), 0u);
}

}  // namespace
}  // namespace bj
