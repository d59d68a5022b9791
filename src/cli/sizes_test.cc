#include "cli/sizes.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(SizesTest, UnitsArePowersOf1024) {
  EXPECT_EQ(parse_size("512M").value(), 512u << 20);
  EXPECT_EQ(parse_size("1G").value(), 1u << 30);
  EXPECT_EQ(parse_size("1.5k").value(), 1536u);
  EXPECT_EQ(parse_size("2MiB").value(), 2u << 20);
  EXPECT_EQ(parse_size("2MB").value(), 2u << 20);
  EXPECT_EQ(parse_size("100").value(), 100u);
  EXPECT_EQ(parse_size("100B").value(), 100u);
}

TEST(SizesTest, WhatIsNoSizeIsRefusedAndNamed) {
  for (const char* text : {"", "M", "-1M", "+1M", "1X", "1MM", "0x10", "inf", "nan", "1e3", "1 M", "99999999T"}) {
    const Result<uint64_t> size = parse_size(text);
    ASSERT_FALSE(size) << text;
    EXPECT_NE(size.error().what.find(std::string("\"") + text + "\""), std::string::npos) << size.error().what;
  }
}

TEST(SizesTest, TimesHaveUnitsAndSecondsAreTheDefault) {
  EXPECT_EQ(parse_duration_ms("500ms").value(), 500u);
  EXPECT_EQ(parse_duration_ms("30s").value(), 30'000u);
  EXPECT_EQ(parse_duration_ms("2m").value(), 120'000u);
  EXPECT_EQ(parse_duration_ms("1h").value(), 3'600'000u);
  EXPECT_EQ(parse_duration_ms("0.5").value(), 500u);
  EXPECT_FALSE(parse_duration_ms("5 s"));
  EXPECT_FALSE(parse_duration_ms("5days"));
  EXPECT_FALSE(parse_duration_ms("-5s"));
}

TEST(SizesTest, CountsAreWhole) {
  EXPECT_EQ(parse_count("128").value(), 128u);
  EXPECT_FALSE(parse_count("1.5"));
  EXPECT_FALSE(parse_count("-1"));
  EXPECT_FALSE(parse_count("99999999999999999999999"));
}

TEST(SizesTest, ShownAsPeopleWriteThem) {
  EXPECT_EQ(format_size(1u << 30), "1 GiB");
  EXPECT_EQ(format_size(1536), "1.5 KiB");
  EXPECT_EQ(format_size(7), "7 bytes");
  EXPECT_EQ(format_duration(500), "500 ms");
  EXPECT_EQ(format_duration(1500), "1.5 s");
  EXPECT_EQ(format_duration(120'000), "2 min");
}

}  // namespace
}  // namespace bj
