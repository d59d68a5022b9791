#include "api/file_range.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

void expect(const char* header, uint64_t size, uint64_t first, uint64_t length) {
  const auto range = range_of(header, size);
  ASSERT_TRUE(range) << header;
  EXPECT_EQ(range->first, first) << header;
  EXPECT_EQ(range->length, length) << header;
}

TEST(FileRangeTest, PartsAreWhatTheyName) {
  expect("bytes=0-99", 1000, 0, 100);
  expect("bytes=900-", 1000, 900, 100);
  expect("bytes=-50", 1000, 950, 50);
  expect("bytes=0-0", 1000, 0, 1);
}

TEST(FileRangeTest, WhatReachesBeyondTheEndIsCut) {
  expect("bytes=900-5000", 1000, 900, 100);
  expect("bytes=-5000", 1000, 0, 1000);
  expect("bytes=0-18446744073709551615", 1000, 0, 1000);
}

TEST(FileRangeTest, WhatLiesBeyondTheEndIsNothing) {
  EXPECT_FALSE(range_of("bytes=1000-", 1000));
  EXPECT_FALSE(range_of("bytes=0-", 0));
  EXPECT_FALSE(range_of("bytes=-0", 1000));
}

TEST(FileRangeTest, WhatIsNoRangeMeansTheWhole) {
  for (const char* header : {"", "bytes", "bytes=", "bytes=-", "lines=1-2", "bytes=5-2", "bytes=a-b", "bytes=0-1,5-6",
                             "bytes=99999999999999999999-"})
    expect(header, 1000, 0, 1000);
}

}  // namespace
}  // namespace bj
