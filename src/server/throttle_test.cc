#include "server/throttle.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

constexpr auto kStart = Clock::time_point(std::chrono::hours(1));

void fail_often(AuthThrottle& throttle, const std::string& peer, int times, Clock::time_point now) {
  for (int i = 0; i < times; ++i) throttle.failed(peer, now);
}

TEST(AuthThrottleTest, HoldsOffAfterManyFailuresAndForAWhileOnly) {
  AuthThrottle throttle;
  fail_often(throttle, "10.0.0.1", AuthThrottle::kMostFailures - 1, kStart);
  EXPECT_FALSE(throttle.holds_off("10.0.0.1", "k", kStart));
  throttle.failed("10.0.0.1", kStart);
  EXPECT_TRUE(throttle.holds_off("10.0.0.1", "k", kStart));
  EXPECT_FALSE(throttle.holds_off("10.0.0.2", "k", kStart));
  EXPECT_FALSE(throttle.holds_off("10.0.0.1", "k", kStart + 2 * AuthThrottle::kWindow));
}

TEST(AuthThrottleTest, SlowFailuresAreForgotten) {
  AuthThrottle throttle;
  for (int i = 0; i < 100; ++i) throttle.failed("10.0.0.1", kStart + i * std::chrono::seconds(1));
  EXPECT_FALSE(throttle.holds_off("10.0.0.1", "k", kStart + std::chrono::seconds(100)));
}

TEST(AuthThrottleTest, ACredentialThatWasGoodPassesBesideABadNeighbour) {
  AuthThrottle throttle;
  throttle.succeeded("10.0.0.1", "good");
  fail_often(throttle, "10.0.0.1", 100, kStart);
  EXPECT_FALSE(throttle.holds_off("10.0.0.1", "good", kStart));
  EXPECT_TRUE(throttle.holds_off("10.0.0.1", "bad", kStart));
}

TEST(AuthThrottleTest, SoDoTheCredentialsOfAWholeTeamBehindOneAddress) {
  AuthThrottle throttle;
  for (int i = 0; i < 50; ++i) throttle.succeeded("10.0.0.1", "good" + std::to_string(i));
  fail_often(throttle, "10.0.0.1", 100, kStart);
  int held_off = 0;
  for (int i = 0; i < 50; ++i) held_off += throttle.holds_off("10.0.0.1", "good" + std::to_string(i), kStart) ? 1 : 0;
  EXPECT_EQ(held_off, 0);
}

TEST(AuthThrottleTest, ManyPeersDoNotGrowIt) {
  AuthThrottle throttle;
  for (int i = 0; i < 5000; ++i) throttle.failed(std::to_string(i), kStart);
  EXPECT_LE(throttle.peers(), AuthThrottle::kMostPeers);
}

}  // namespace
}  // namespace bj
