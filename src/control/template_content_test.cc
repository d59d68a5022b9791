#include "control/template_content.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(TemplateContentTest, WhatIsWrittenIsReadTheSame) {
  TemplateContent content;
  content.root = "image:0123";
  content.layers = {"a", "b"};
  content.user = "root";
  content.workdir = "/code";
  content.environment = {{"A", "1"}, {"B", "\"\n"}};
  content.start_command = "serve &";
  content.ready_command = "true";
  const auto read = read_content(content_text(content));
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(*read, content);
}

TEST(TemplateContentTest, DamageIsToldAndNotGuessedAround) {
  for (const char* text : {"", "[]", "{}", R"({"root": 1})", R"({"root":"base","layers":[1],"user":"","workdir":"",
       "environment":{},"start_command":"","ready_command":""})"})
    EXPECT_FALSE(read_content(text)) << text;
}

}  // namespace
}  // namespace bj
