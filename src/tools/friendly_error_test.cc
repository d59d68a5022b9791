#include "tools/friendly_error.h"

#include "tools/python_text.h"
#include "tools/vectors_for_test.h"

namespace bj {
namespace {

namespace json = boost::json;

TEST(FriendlyErrorTest, StderrIsReadAsObserved) {
  for (const json::value& value : vectors_of("stderr_to_error")) {
    const json::object& vector = value.as_object();
    const PythonError error = error_in_stderr(text_at(vector, "stderr"));
    EXPECT_EQ(error.name, text_at(vector, "exception_name")) << value;
    EXPECT_EQ(error.message, text_at(vector, "exception_message")) << value;
    EXPECT_EQ(friendly_error("my_tool", error), text_at(vector, "friendly")) << value;
  }
}

TEST(FriendlyErrorTest, IsCutAtAThousandCharacters) {
  const json::object& vector = letta_vectors().at("friendly_truncation").as_object();
  const size_t given = vector.at("exception_message_len").to_number<size_t>();
  const std::string text =
      friendly_error(text_at(vector, "function_name"), {text_at(vector, "exception_name"), std::string(given, 'x')});
  EXPECT_EQ(text.size(), vector.at("result_len").to_number<size_t>());
  EXPECT_TRUE(text.starts_with(text_at(vector, "result_prefix")));
  std::string accents;
  for (int i = 0; i < 2000; ++i) accents += "\u00e9";
  EXPECT_EQ(python_length(friendly_error("f", {"E", accents})), 1000u);
}

TEST(FriendlyErrorTest, ABareErrorIsNoExceptionsName) {
  EXPECT_EQ(error_in_stderr("Error: x\n").name, "");
  EXPECT_EQ(error_in_stderr("a: MyException: b: KeyError: c\n").message, "b: KeyError: c");
  EXPECT_EQ(error_in_stderr("Errors: x\nFooErrors: y").name, "");
}

}  // namespace
}  // namespace bj
