#include "tools/python_loads.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tools/python_text.h"

namespace bj {
namespace {

std::string error_of(std::string_view text) {
  auto value = python_loads(text);
  return value ? "no error" : value.error().what;
}

TEST(PythonLoadsTest, EveryNumberReadsBackExactly) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const double number = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200) - 100);
    const auto value = python_loads(python_repr(number));
    ASSERT_TRUE(value);
    ASSERT_EQ(value->as_double(), number) << python_repr(number);
  }
  EXPECT_EQ(python_loads("18446744073709551615")->as_uint64(), 18446744073709551615u);
  EXPECT_TRUE(std::isinf(python_loads("1e999")->as_double()));
  EXPECT_TRUE(python_loads("1E2")->is_double());
}

TEST(PythonLoadsTest, TakesWhatPythonTakesBeyondJson) {
  EXPECT_TRUE(std::isnan(python_loads("NaN")->as_double()));
  EXPECT_EQ(python_str(*python_loads("[Infinity, -Infinity]")), "[inf, -inf]");
  EXPECT_EQ(python_loads(R"("\ud83d\ude00")")->as_string(), "\U0001F600");
  EXPECT_EQ(python_loads(R"("\ud800x")")->as_string(), "\uFFFDx");
  EXPECT_EQ(python_str(*python_loads(R"({"a":1,"b":2,"a":3})")), "{'a': 3, 'b': 2}");
}

TEST(PythonLoadsTest, ErrorsArePythonsWords) {
  EXPECT_EQ(error_of("nope"), "Expecting value: line 1 column 1 (char 0)");
  EXPECT_EQ(error_of(""), "Expecting value: line 1 column 1 (char 0)");
  EXPECT_EQ(error_of("[1,]"), "Expecting value: line 1 column 4 (char 3)");
  EXPECT_EQ(error_of("[1 2]"), "Expecting ',' delimiter: line 1 column 4 (char 3)");
  EXPECT_EQ(error_of("{a: 1}"), "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)");
  EXPECT_EQ(error_of("{\"a\" 1}"), "Expecting ':' delimiter: line 1 column 6 (char 5)");
  EXPECT_EQ(error_of("{\"a\": 1,}"), "Expecting property name enclosed in double quotes: line 1 column 9 (char 8)");
  EXPECT_EQ(error_of("\"\u00e9\n\""), "Invalid control character at: line 1 column 3 (char 2)");
  EXPECT_EQ(error_of("\"abc"), "Unterminated string starting at: line 1 column 1 (char 0)");
  EXPECT_EQ(error_of(R"(["\q"])"), "Invalid \\escape: line 1 column 3 (char 2)");
  EXPECT_EQ(error_of(R"("\u12g4x")"), "Invalid \\uXXXX escape: line 1 column 3 (char 2)");
  EXPECT_EQ(error_of("{}\n x"), "Extra data: line 2 column 2 (char 4)");
  EXPECT_EQ(error_of("-"), "Expecting value: line 1 column 1 (char 0)");
  EXPECT_EQ(error_of("\xef\xbb\xbf{}"), "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)");
  EXPECT_EQ(error_of("01"), "Extra data: line 1 column 2 (char 1)");
}

TEST(PythonLoadsTest, DepthIsBounded) {
  EXPECT_FALSE(python_loads(std::string(100000, '[')));
  EXPECT_TRUE(python_loads(std::string(150, '[') + std::string(150, ']')));
}

}  // namespace
}  // namespace bj
