#include "audit/event.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace bj {
namespace {

std::string detail_of(const char* text) {
  Event event;
  event.detail = boost::json::parse(text).as_object();
  return row_of(event, 1).detail;
}

// The chain holds the text: who reads an export with another library and writes it again must come to the same one.
TEST(EventTest, NumbersInADetailAreWrittenAsOtherWritersDo) {
  for (const char* text : {R"({"ms":36.537903,"rate":0.01,"few":[1,2.5,-3],"none":null,"yes":true})",
                           R"({"a":{},"b":[],"c":{"d":[{"e":0.5},"x,y"]},"f":18446744073709551615})", "{}"})
    EXPECT_EQ(detail_of(text), text);
  EXPECT_EQ(detail_of(R"({"whole":2.0,"large":1e300})"), R"({"whole":2,"large":1e+300})");
}

TEST(EventTest, TextsInADetailAreEscaped) {
  constexpr const char* kText = R"({"na\"me":"li\nne \\ \u0001 \u00e4"})";
  EXPECT_EQ(boost::json::parse(detail_of(kText)), boost::json::parse(kText));
}

TEST(EventTest, ADetailThatIsTooLargeSaysSo) {
  Event event;
  event.detail["long"] = std::string(10000, 'x');
  EXPECT_EQ(row_of(event, 1).detail, R"({"left_out_bytes":10011})");
}

}  // namespace
}  // namespace bj
