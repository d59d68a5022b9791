#include "control/backoff.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(BackoffTest, EachPauseIsLongerUntilThereIsNoMore) {
  int64_t before = 0;
  for (int64_t attempt = 1; attempt < kMostAttempts; ++attempt) {
    const auto pause = pause_before_retry({Code::kBusy, "", 0}, attempt);
    ASSERT_TRUE(pause);
    EXPECT_GT(*pause, before);
    before = *pause;
  }
  EXPECT_FALSE(pause_before_retry({Code::kBusy, "", 0}, kMostAttempts));
}

TEST(BackoffTest, WhatWouldFailAgainIsNotTriedAgain) {
  for (const Code code : {Code::kInvalid, Code::kNotFound, Code::kDenied, Code::kConflict, Code::kInternal})
    EXPECT_FALSE(pause_before_retry({code, "", 0}, 1));
  EXPECT_FALSE(pause_before_retry({Code::kExhausted, "", kOverQuota}, 1));
  EXPECT_TRUE(pause_before_retry({Code::kExhausted, "", 0}, 1));
  EXPECT_TRUE(pause_before_retry({Code::kUnavailable, "", 0}, 1));
}

}  // namespace
}  // namespace bj
