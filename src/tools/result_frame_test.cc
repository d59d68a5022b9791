#include "tools/result_frame.h"

#include "tools/base64.h"
#include "tools/vectors_for_test.h"

namespace bj {
namespace {

namespace json = boost::json;

void expect_result(const json::object& vector, const PythonResult<RemoteResult>& result) {
  const std::string error = text_at(vector, "error") + text_at(vector, "parse_error");
  if (!error.empty()) {
    ASSERT_FALSE(result) << json::value(vector);
    EXPECT_EQ(result.error().name, error);
    EXPECT_EQ(result.error().message, text_at(vector, "message"));
    return;
  }
  ASSERT_TRUE(result) << json::value(vector);
  EXPECT_EQ(result->func_return, vector.at("func_return"));
  if (const json::value* state = vector.if_contains("agent_state")) EXPECT_EQ(result->agent_state, *state);
}

TEST(ResultFrameTest, FramesAreFoundAsObserved) {
  const json::object& section = letta_vectors().at("frame_parsing").as_object();
  for (const json::value& value : section.at("cases").as_array()) {
    const json::object& vector = value.as_object();
    const auto found = find_frame(base64_decode(text_at(vector, "stdout_b64")).value(), UserText::kStrict);
    if (vector.contains("error")) {
      ASSERT_FALSE(found) << value;
      EXPECT_EQ(found.error().name, text_at(vector, "error")) << value;
      EXPECT_EQ(found.error().message, text_at(vector, "message")) << value;
      continue;
    }
    ASSERT_TRUE(found) << value;
    EXPECT_EQ(base64_encode(found->payload), text_at(vector, "payload_b64"));
    EXPECT_EQ(found->user_stdout, text_at(vector, "user_stdout"));
    expect_result(vector, read_payload(found->payload));
  }
}

TEST(ResultFrameTest, OutputThatIsNoUtf8DoesNotLoseTheResult) {
  const auto found = find_frame(
      "\xff"
      "a" +
          write_frame("{\"results\": 1}") + "\xe9",
      UserText::kReplace);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->user_stdout,
            "\uFFFD"
            "a\uFFFD");
  EXPECT_EQ(read_payload(found->payload)->func_return, 1);
}

TEST(ResultFrameTest, APayloadThatIsNoUtf8IsRefusedInPythonsWords) {
  const auto result = read_payload("\xff{}");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().name, "UnicodeDecodeError");
  EXPECT_EQ(result.error().message, "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte");
}

TEST(ResultFrameTest, OnlyTheFrameWithTheNonceCounts) {
  const std::string forged = write_frame(R"({"results": "forged", "nonce": "guess"})");
  const std::string real = write_frame(R"({"results": "real", "nonce": "n1"})");
  const FoundFrame found = find_frame_with_nonce("a" + forged + "b" + real + "c", "n1");
  EXPECT_EQ(read_payload(found.payload)->func_return, "real");
  EXPECT_EQ(find_frame_with_nonce(forged + real, "n2").payload, "");
  EXPECT_EQ(find_frame_with_nonce("plain", "n1").user_stdout, "plain");
}

TEST(ResultFrameTest, EveryCutOfAFrameIsRefused) {
  const std::string frame = write_frame("{}");
  for (size_t size = 16; size < frame.size(); ++size) {
    EXPECT_FALSE(find_frame(std::string_view(frame).substr(0, size), UserText::kReplace)) << size;
  }
}

TEST(ResultFrameTest, ALengthBeyondTheEndMeansAllThatIsThere) {
  std::string huge = write_frame("{}");
  huge[16] = '\xff';
  EXPECT_EQ(find_frame(huge, UserText::kReplace)->payload, "{}");
  EXPECT_FALSE(find_frame(huge + "printed after", UserText::kReplace));
}

TEST(ResultFrameTest, RemoteTextsAreReadAsObserved) {
  for (const json::value& value : vectors_of("e2b_text_parsing")) {
    expect_result(value.as_object(), read_e2b_text(text_at(value.as_object(), "text")));
  }
  for (const json::value& value : vectors_of("typescript_result_parsing")) {
    expect_result(value.as_object(), read_typescript_result(text_at(value.as_object(), "text")));
  }
}

TEST(Base64Test, RoundTripsAndIsStrict) {
  for (const char* text : {"", "a", "ab", "abc", "abcd"}) {
    EXPECT_EQ(base64_decode(base64_encode(text)), text);
  }
  EXPECT_EQ(base64_encode("ab"), "YWI=");
  for (const char* text : {"YWI", "YW I", "Y===", "YWI=YWI=", "====", "'YWI'"})
    EXPECT_FALSE(base64_decode(text)) << text;
}

}  // namespace
}  // namespace bj
