#include "control/dockerfile.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(DockerfileTest, InstructionsBecomeStepsInOrder) {
  const auto parsed = parse_dockerfile(
      "# a tool\nFROM python:3.12-slim\n\nrun pip install \\\n    httpx \\\n    # not this\n    rich\n"
      "ENV A=1 B=\"two words\"\nENV OLD the rest\nWORKDIR /app\nUSER app:app\nCOPY --chown=app a.txt b.txt /app/\n"
      "START python -m http.server 8000\nREADY [\"curl\", \"-f\", \"it's\"]\n");
  ASSERT_TRUE(parsed) << parsed.error().what;
  EXPECT_EQ(parsed->from, "python:3.12-slim");
  ASSERT_EQ(parsed->steps.size(), 7u);
  EXPECT_EQ(parsed->steps[0].arguments[0], "pip install  httpx  rich");
  EXPECT_EQ(parsed->steps[1].arguments, (std::vector<std::string>{"A", "1", "B", "two words"}));
  EXPECT_EQ(parsed->steps[2].arguments, (std::vector<std::string>{"OLD", "the rest"}));
  EXPECT_EQ(parsed->steps[4].arguments[0], "app");
  EXPECT_EQ(parsed->steps[6].arguments, (std::vector<std::string>{"b.txt", "/app/", "app", ""}));
  EXPECT_EQ(parsed->start_command, "python -m http.server 8000");
  EXPECT_EQ(parsed->ready_command, "'curl' '-f' 'it'\\''s'");
}

TEST(DockerfileTest, EntrypointAndCommandStartIt) {
  const auto parsed = parse_dockerfile("FROM base\nENTRYPOINT [\"python\"]\nCMD -m app");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->start_command, "'python' -m app");
}

TEST(DockerfileTest, WhatCantBeDoneIsRefusedWithItsLine) {
  for (const char* text : {"FROM a\nFROM b", "FROM a AS b", "FROM a\nADD x y", "ARG x", "RUN", "RUN --mount=x y",
                           "COPY a", "COPY --from=x a b", "COPY a b c", "ENV A", "HEALTHCHECK x"}) {
    const auto parsed = parse_dockerfile(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_TRUE(parsed.error().what.starts_with("line ")) << parsed.error().what;
  }
}

TEST(DockerfileTest, NetworkIsAPresetOrAPolicyAndStandsOnce) {
  EXPECT_EQ(parse_dockerfile("FROM base\nNETWORK packages")->network, "\"packages\"");
  EXPECT_EQ(parse_dockerfile("NETWORK {\"rules\": []}")->network, "{\"rules\":[]}");
  EXPECT_FALSE(parse_dockerfile("FROM base")->network);
  EXPECT_FALSE(parse_dockerfile("NETWORK {odd"));
  EXPECT_FALSE(parse_dockerfile("NETWORK none\nNETWORK open"));
}

}  // namespace
}  // namespace bj
