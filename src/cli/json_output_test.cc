#include "cli/json_output.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/utf8.h"

namespace bj {
namespace {

namespace json = boost::json;

TEST(Utf8Test, ValidTextStaysAsItIs) {
  for (const char* text : {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_EQ(valid_utf8(text), text);
  }
}

TEST(Utf8Test, EveryBadByteBecomesAReplacement) {
  EXPECT_EQ(valid_utf8("a\xff\xfe z"), "a\xef\xbf\xbd\xef\xbf\xbd z");
  // Cut short, overlong, a surrogate, beyond the last code point, a lone continuation.
  for (const char* text : {"\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"}) {
    EXPECT_FALSE(is_utf8(text));
    EXPECT_TRUE(is_utf8(valid_utf8(text)));
  }
}

TEST(JsonOutputTest, NumbersAreWrittenAsPeopleDo) {
  EXPECT_EQ(json_text(json::parse(R"({"a":[0.5,1.0,-3,1e300,{}],"b":null,"c":"x\"\n"})")),
            R"({"a":[0.5,1.0,-3,1e+300,{}],"b":null,"c":"x\"\n"})");
}

TEST(JsonOutputTest, ACallHasEveryKeyOfTheManual) {
  CallResult result;
  result.status = CallStatus::kOk;
  result.value = 3;
  result.output = "\xff";
  result.seal.set(Control::kMemory, ControlState::kUnavailable, "no cgroup");
  const json::object out = call_json(result);
  for (const char* key : {"status", "return", "stdout", "stderr", "duration_ms", "limits_hit", "seal"})
    EXPECT_TRUE(out.contains(key)) << key;
  EXPECT_FALSE(out.contains("error"));
  EXPECT_EQ(out.at("stdout").as_string(), "\xef\xbf\xbd");
  EXPECT_EQ(out.at("seal").at("full"), false);
  EXPECT_EQ(out.at("seal").at("memory").at("state").as_string(), "unavailable");
  EXPECT_EQ(out.at("seal").at("memory").at("detail").as_string(), "no cgroup");
}

TEST(JsonOutputTest, AFailedCallCarriesItsError) {
  CallResult result;
  result.status = CallStatus::kTimeout;
  result.error = {"Timeout", "too slow", ""};
  result.limits_hit = {"wall time"};
  const json::object out = call_json(result);
  EXPECT_EQ(out.at("status").as_string(), "timeout");
  EXPECT_TRUE(out.at("return").is_null());
  EXPECT_EQ(out.at("error").at("message").as_string(), "too slow");
  EXPECT_EQ(out.at("limits_hit").as_array().size(), 1u);
}

TEST(JsonOutputTest, ACallThatNeverRanHasTheSameKeys) {
  const json::object ran = call_json(CallResult{});
  const json::object failed = failed_call_json("unavailable", "no namespaces");
  for (const auto& item : ran) EXPECT_TRUE(failed.contains(item.key())) << item.key();
}

}  // namespace
}  // namespace bj
