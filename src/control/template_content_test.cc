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
  add_network(content, "\"none\"");
  add_network(content, "\"none\"");
  EXPECT_EQ(content.networks.size(), 1u);
  const auto read = read_content(content_text(content));
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(*read, content);
}

TEST(TemplateContentTest, DamageIsToldAndNotGuessedAround) {
  for (const char* text : {"", "[]", "{}", R"({"root": 1})", R"({"root":"base","layers":[1],"user":"","workdir":"",
       "environment":{},"start_command":"","ready_command":""})",
                           R"({"root":"base","layers":[],"user":"","workdir":"","environment":{},"start_command":"",
       "ready_command":"","networks":"open"})"})
    EXPECT_FALSE(read_content(text)) << text;
}

TEST(TemplateContentTest, OneThatWasWrittenBeforeThereWerePoliciesHasNone) {
  const auto read = read_content(R"({"root":"base","layers":[],"user":"","workdir":"","environment":{},
      "start_command":"","ready_command":""})");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_TRUE(read->networks.empty());
}

}  // namespace
}  // namespace bj
