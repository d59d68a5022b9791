#include "base/exact_json.h"

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>
#include <random>

namespace bj {
namespace {

TEST(ExactJsonTest, DoublesAreWhatWasWritten) {
  std::mt19937_64 chance(7);
  for (int i = 0; i < 20'000; ++i) {
    const double number = std::ldexp(static_cast<double>(chance()), static_cast<int>(chance() % 400) - 200);
    char text[64];
    const auto written = std::to_chars(text, text + sizeof text, number, std::chars_format::scientific);
    const auto parsed = parse_exactly("[" + std::string(text, written.ptr) + "]");
    ASSERT_TRUE(parsed);
    ASSERT_EQ(parsed->get_array().at(0).to_number<double>(), number) << text;
  }
}

TEST(ExactJsonTest, OtherValuesAreAsInBoost) {
  const std::string text = R"( {"a": [1, -2, 18446744073709551615, true, null, "\u00e9\ud83d\ude00"], "": {}} )";
  const auto parsed = parse_exactly(text);
  ASSERT_TRUE(parsed) << parsed.error().what;
  EXPECT_EQ(parsed->at("a").get_array().size(), 6u);
  EXPECT_EQ(parsed->at("a").get_array().at(2).get_uint64(), UINT64_MAX);
  EXPECT_EQ(parsed->at("a").get_array().at(5).get_string(), "é😀");
}

// Written again it would be no JSON.
TEST(ExactJsonTest, ANumberTooLargeToHoldIsRefused) {
  for (const char* text : {"1e400", "[-1e400]", R"({"a": [1, {"b": 1e999}]})"}) EXPECT_FALSE(parse_exactly(text));
  EXPECT_EQ(parse_exactly("1e308")->get_double(), 1e308);
}

TEST(ExactJsonTest, WhatIsNoJsonIsRefused) {
  for (const std::string text : {"", "{", "[1", "1 2", "{} x", "nan", "'a'", "[1,]", "\"\xff\"", "\"\\ud800\""}) {
    EXPECT_FALSE(parse_exactly(text)) << text;
  }
  EXPECT_FALSE(parse_exactly(std::string(65, '[') + std::string(65, ']')));
  EXPECT_TRUE(parse_exactly(std::string(64, '[') + std::string(64, ']')));
}

}  // namespace
}  // namespace bj
