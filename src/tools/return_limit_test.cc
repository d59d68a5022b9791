#include "tools/return_limit.h"

#include "tools/vectors_for_test.h"

namespace bj {
namespace {

namespace json = boost::json;

TEST(ReturnLimitTest, BothStagesAreAsObserved) {
  for (const json::value& value : vectors_of("return_limit_manager_stage")) {
    const json::object& vector = value.as_object();
    EXPECT_EQ(note_limit_only(vector.at("value"), vector.at("limit").to_number<size_t>()), vector.at("result"));
  }
  for (const json::value& value : vectors_of("return_limit_message_stage")) {
    const json::object& vector = value.as_object();
    EXPECT_EQ(return_message(vector.at("value"), vector.at("limit").to_number<size_t>()), vector.at("result"));
  }
}

json::value limited(json::value value, size_t limit) {
  return limit_return(std::move(value), std::nullopt, limit).value;
}

TEST(ReturnLimitTest, WhatFitsKeepsItsTypeAndWhatDoesNotIsCut) {
  EXPECT_EQ(limited(json::value(5), 1), json::value(5));
  EXPECT_EQ(limited(nullptr, 4), json::value(nullptr));
  EXPECT_EQ(limited("\u00e9\u00e9\u00e9", 2),
            "\u00e9\u00e9... [NOTE: function output was truncated since it exceeded the character limit (3 > 2)]");
  EXPECT_EQ(return_message(json::object{{"a", 1}}, 50), (json::value(json::object{{"a", 1}})));
  EXPECT_EQ(return_message(json::array{true, "x"}, 50), "[True, 'x']");
}

TEST(ReturnLimitTest, WhatTheRuntimeShowedIsShownOfObjectsToo) {
  const LimitedReturn fits = limit_return(json::object{{"n", "NaN"}}, "{'n': nan}", 50);
  EXPECT_EQ(fits.value, (json::value(json::object{{"n", "NaN"}})));
  EXPECT_EQ(fits.text, "{'n': nan}");
  const LimitedReturn cut = limit_return(json::object{{"a", "bbbb"}}, "{'a': 'bbbb'}", 5);
  EXPECT_EQ(cut.text,
            "{\"a\":... [NOTE: function output was truncated since it exceeded the character limit (13 > 5)]");
  EXPECT_EQ(cut.value, json::value(cut.text));
  EXPECT_EQ(limit_return(json::array{"NaN"}, "[nan]", 2).text.substr(0, 5), "[n...");
}

}  // namespace
}  // namespace bj
