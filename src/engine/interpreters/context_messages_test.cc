#include "engine/interpreters/context_messages.h"

#include <gtest/gtest.h>

#include "engine/calls/answer.h"

namespace bj {
namespace {

std::string frame(std::string_view payload) { return encode_frame(static_cast<FrameType>('J'), payload); }

TEST(ContextFramesTest, FramesComeWholeHoweverTheirBytesArrive) {
  const std::string bytes = frame("{\"a\":1}") + frame("{}") + frame("");
  ContextFrames frames;
  for (const char byte : bytes) ASSERT_TRUE(frames.feed({&byte, 1}));
  EXPECT_EQ(frames.next(), "{\"a\":1}");
  EXPECT_EQ(frames.next(), "{}");
  EXPECT_EQ(frames.next(), "");
  EXPECT_TRUE(frames.empty());
}

TEST(ContextFramesTest, AFrameThatClaimsTooMuchOrIsOfAnotherTypeIsRefusedAtItsHeader) {
  ContextFrames large;
  EXPECT_FALSE(large.feed(std::string_view("\xff\xff\xff\x7fJ", 5)));
  ContextFrames other;
  EXPECT_FALSE(other.feed(std::string_view("\x01\0\0\0A", 5)));
}

TEST(ContextMessageTest, WhatARuntimeSaysIsRead) {
  const auto result = decode_context_message(
      R"({"op":"result","nonce":"n","main":true,"data":{"text/plain":"1","application/json":{"k":[1,null]}}})");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->op, ContextOp::kResult);
  EXPECT_TRUE(result->main);
  EXPECT_EQ(result->data.size(), 2u);
  const auto ready = decode_context_message(R"({"op":"ready","pid":12})");
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->pid, 12);
  const auto error = decode_context_message(R"({"op":"error","nonce":"n","name":"E","value":"v","traceback":"t"})");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error.traceback, "t");
}

TEST(ContextMessageTest, ForgedMessagesAreRefused) {
  std::string deep(400, '[');
  for (const std::string& text :
       {std::string("[]"), std::string("{}"), std::string(R"({"op":"execute"})"), std::string(R"({"op":"ready"})"),
        std::string(R"({"op":"ready","pid":1})"), std::string(R"({"op":"ready","pid":-1})"),
        std::string(R"({"op":"ready","pid":99999999999})"), std::string(R"({"op":"result","nonce":"n"})"),
        std::string(R"({"op":"result","data":[]})"), std::string(R"({"op":"result","data":{"":1}})"),
        std::string(R"({"op":"result","data":{"a":1e999}})"), std::string("{\"op\":\"error\",\"name\":\"\xff\"}"),
        R"({"op":"result","data":{"a":)" + deep + "}}", std::string(R"({"op":"done"} x)")}) {
    EXPECT_FALSE(decode_context_message(text)) << text;
  }
}

TEST(ContextMessageTest, LongTextsAreCutBetweenCharacters) {
  std::string text;
  while (text.size() < 300 * 1024) text += "é";
  const auto message = decode_context_message(R"({"op":"error","value":"x)" + text + "\"}");
  ASSERT_TRUE(message);
  EXPECT_LE(message->error.value.size(), 256u * 1024);
  EXPECT_EQ(message->error.value.back(), '\xa9');
}

TEST(ContextMessageTest, CodeForTheShellCantLeaveItsQuotes) {
  Execution execution;
  execution.code = "echo 'a'; exit";
  execution.environment = {{"A", "it's"}};
  EXPECT_EQ(
      encode_execution(ContextLanguage::kBash, execution, "n"),
      "__belljar_begin n 'A=it'\\''s'; eval 'echo '\\''a'\\''; exit' </dev/null 3>&-\n__belljar_end\n__belljar_end\n");
}

TEST(ContextLanguageTest, ShortNamesAreKnownAndOthersAreRefusedWithWhatThereIs) {
  EXPECT_EQ(*context_language_of("js"), ContextLanguage::kJavaScript);
  EXPECT_EQ(*context_language_of("ts"), ContextLanguage::kTypeScript);
  for (const char* name : {"r", "java", "", "Python"}) {
    const auto language = context_language_of(name);
    ASSERT_FALSE(language) << name;
    EXPECT_NE(language.error().what.find("typescript"), std::string::npos);
  }
}

}  // namespace
}  // namespace bj
