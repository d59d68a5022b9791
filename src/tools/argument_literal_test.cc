#include "tools/argument_literal.h"

#include "tools/vectors_for_test.h"

namespace bj {
namespace {

namespace json = boost::json;

void expect_literal(const json::object& vector, const PythonResult<std::string>& literal) {
  if (vector.contains("error")) {
    ASSERT_FALSE(literal) << json::value(vector);
    EXPECT_EQ(literal.error().name, text_at(vector, "error"));
    EXPECT_EQ(literal.error().message, text_at(vector, "message"));
  } else {
    ASSERT_TRUE(literal) << json::value(vector);
    EXPECT_EQ(*literal, text_at(vector, "literal"));
  }
}

TEST(ArgumentLiteralTest, LiteralsAreAsObserved) {
  for (const json::value& value : vectors_of("python_arg_literal")) {
    const json::object& vector = value.as_object();
    expect_literal(vector, python_argument_literal(vector.at("type"), vector.at("value")));
  }
  for (const json::value& value : vectors_of("typescript_arg_literal")) {
    const json::object& vector = value.as_object();
    expect_literal(vector, typescript_argument_literal(vector.at("type"), vector.at("value")));
  }
}

TEST(ArgumentLiteralTest, IntegersAreWhatPythonsIntMakesOfThem) {
  const auto integer = [](std::string_view value) {
    const auto literal = python_argument_literal("integer", python_loads(value).value());
    return literal ? *literal : literal.error().message;
  };
  EXPECT_EQ(integer("3.9"), "3");
  EXPECT_EQ(integer("-3.9"), "-3");
  EXPECT_EQ(integer("-0.5"), "0");
  EXPECT_EQ(integer("1e21"), "1000000000000000000000");
  EXPECT_EQ(integer("\" +0_07 \""), "7");
  EXPECT_EQ(integer("\"-0\""), "0");
  EXPECT_EQ(integer("\"123456789012345678901234567890\""), "123456789012345678901234567890");
  EXPECT_EQ(integer("\"\""), "invalid literal for int() with base 10: ''");
  EXPECT_EQ(integer("\"1__0\""), "invalid literal for int() with base 10: '1__0'");
  EXPECT_EQ(integer("NaN"), "cannot convert float NaN to integer");
  EXPECT_EQ(integer("-Infinity"), "cannot convert float infinity to integer");
  EXPECT_EQ(integer("[]"), "int() argument must be a string, a bytes-like object or a real number, not 'list'");
}

}  // namespace
}  // namespace bj
