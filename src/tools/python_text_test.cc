#include "tools/python_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tools/python_loads.h"

namespace bj {
namespace {

boost::json::value loads(std::string_view text) {
  auto value = python_loads(text);
  EXPECT_TRUE(value) << text << ": " << value.error().what;
  return value ? *value : boost::json::value();
}

TEST(PythonTextTest, StringsPreferSingleQuotesAndEscapeWhatIsNotPrintable) {
  EXPECT_EQ(python_repr(std::string_view("hi")), "'hi'");
  EXPECT_EQ(python_repr(std::string_view("it's")), "\"it's\"");
  EXPECT_EQ(python_repr(std::string_view("it's \"q\"")), "'it\\'s \"q\"'");
  EXPECT_EQ(python_repr(std::string_view("a\nb\\\t\r\x01\x7f")), "'a\\nb\\\\\\t\\r\\x01\\x7f'");
  EXPECT_EQ(python_repr(std::string_view("d\u00e9j\u00e0 \U0001F600")), "'d\u00e9j\u00e0 \U0001F600'");
  EXPECT_EQ(python_repr(std::string_view("\u00a0\u00ad\u2028\ufeff\U000E0001")),
            "'\\xa0\\xad\\u2028\\ufeff\\U000e0001'");
}

TEST(PythonTextTest, FloatsAreTheShortestThatReadBack) {
  EXPECT_EQ(python_repr(0.1), "0.1");
  EXPECT_EQ(python_repr(300.0), "300.0");
  EXPECT_EQ(python_repr(-0.0), "-0.0");
  EXPECT_EQ(python_repr(1e16), "1e+16");
  EXPECT_EQ(python_repr(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(python_repr(123456789012345680.0), "1.2345678901234568e+17");
  EXPECT_EQ(python_repr(0.0001), "0.0001");
  EXPECT_EQ(python_repr(0.00001), "1e-05");
  EXPECT_EQ(python_repr(5e-324), "5e-324");
  EXPECT_EQ(python_repr(1.5e300), "1.5e+300");
  EXPECT_EQ(python_repr(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(python_repr(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(python_repr(std::nan("")), "nan");
}

TEST(PythonTextTest, ContainersAreWrittenAsPythonPrintsThem) {
  const auto value = loads(R"({"a": [1, 2.0, null, true, false, "x'y"], "b": {}, "c": []})");
  EXPECT_EQ(python_str(value), R"({'a': [1, 2.0, None, True, False, "x'y"], 'b': {}, 'c': []})");
  EXPECT_EQ(python_str(loads("\"it's\"")), "it's");
}

TEST(PythonTextTest, DumpsIsAsciiSortedAndKeepsNumbersApart) {
  const auto value = loads(R"({"z": 300, "a": 300.0, "é": "😀\u2028\/\u007f", "m": {"b": NaN, "a": -Infinity}})");
  EXPECT_EQ(python_json(value),
            R"({"z": 300, "a": 300.0, "\u00e9": "\ud83d\ude00\u2028/\u007f", "m": {"b": NaN, "a": -Infinity}})");
  EXPECT_EQ(python_json(value, KeyOrder::kSorted, JsonSpacing::kCompact),
            R"({"a":300.0,"m":{"a":-Infinity,"b":NaN},"z":300,"\u00e9":"\ud83d\ude00\u2028/\u007f"})");
}

TEST(PythonTextTest, LengthsAndPrefixesCountCodePoints) {
  EXPECT_EQ(python_length("d\u00e9j\U0001F600"), 4u);
  EXPECT_EQ(python_prefix("d\u00e9j\U0001F600x", 2), "d\u00e9");
  EXPECT_EQ(python_prefix("ab", 9), "ab");
}

}  // namespace
}  // namespace bj
