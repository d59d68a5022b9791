#include "api/file_conditions.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

constexpr int64_t kChanged = 1'794'918'957'900'000;  // with a part of a second, which no date has
constexpr const char* kDate = "Tue, 17 Nov 2026 12:35:57 GMT";
constexpr const char* kBefore = "Tue, 17 Nov 2026 12:35:56 GMT";
constexpr const char* kLater = "Tue, 17 Nov 2026 12:35:58 GMT";

TEST(FileConditionsTest, ATimeIsADate) { EXPECT_EQ(http_date(kChanged), kDate); }

TEST(FileConditionsTest, WhoHasItAlreadyIsToldSo) {
  EXPECT_EQ(condition_of({{"If-Modified-Since", kDate}}, kChanged), Condition::kNotModified);
  EXPECT_EQ(condition_of({{"If-Modified-Since", kLater}}, kChanged), Condition::kNotModified);
  EXPECT_EQ(condition_of({{"If-Modified-Since", kBefore}}, kChanged), Condition::kHolds);
}

TEST(FileConditionsTest, WhoWantsAnOlderOneGetsNone) {
  EXPECT_EQ(condition_of({{"If-Unmodified-Since", kBefore}}, kChanged), Condition::kFailed);
  EXPECT_EQ(condition_of({{"If-Unmodified-Since", kDate}}, kChanged), Condition::kHolds);
}

TEST(FileConditionsTest, WhatIsNoDateIsNoCondition) {
  for (const char* text : {"", "yesterday", "Tue, 17 Nov 2026 12:35:57 GMT+1"}) {
    EXPECT_EQ(condition_of({{"If-Modified-Since", text}, {"If-Unmodified-Since", text}}, kChanged), Condition::kHolds);
  }
}

TEST(FileConditionsTest, ARangeIsOfTheFileThatIfRangeNames) {
  EXPECT_TRUE(range_counts({}, kChanged));
  EXPECT_TRUE(range_counts({{"If-Range", kDate}}, kChanged));
  EXPECT_FALSE(range_counts({{"If-Range", kBefore}}, kChanged));
  EXPECT_FALSE(range_counts({{"If-Range", "\"a-tag\""}}, kChanged));
}

}  // namespace
}  // namespace bj
