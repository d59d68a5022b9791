#include "api/rfc3339.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(Rfc3339Test, TimesWithAndWithoutFractionsAndOffsets) {
  EXPECT_EQ(microseconds_of("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(microseconds_of("1970-01-01T00:00:01.5Z"), 1'500'000);
  EXPECT_EQ(microseconds_of("1970-01-01T00:00:00.123456789Z"), 123'456);
  EXPECT_EQ(microseconds_of("1970-01-01T01:00:00+01:00"), 0);
  EXPECT_EQ(microseconds_of("1969-12-31T23:00:00-01:00"), 0);
}

TEST(Rfc3339Test, WhatIsNoTimeIsNone) {
  for (const char* text : {"", "yesterday", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01T00:00:00+1"})
    EXPECT_FALSE(microseconds_of(text)) << text;
}

}  // namespace
}  // namespace bj
