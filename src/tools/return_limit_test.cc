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

TEST(ReturnLimitTest, WhatFitsKeepsItsTypeAndWhatDoesNotIsCut) {
  EXPECT_EQ(limit_return(json::value(5), 1), json::value(5));
  EXPECT_EQ(limit_return(nullptr, 4), json::value(nullptr));
  EXPECT_EQ(limit_return("\u00e9\u00e9\u00e9", 2),
            "\u00e9\u00e9... [NOTE: function output was truncated since it exceeded the character limit (3 > 2)]");
  EXPECT_EQ(return_message(json::object{{"a", 1}}, 50), (json::value(json::object{{"a", 1}})));
  EXPECT_EQ(return_message(json::array{true, "x"}, 50), "[True, 'x']");
}

}  // namespace
}  // namespace bj
