#include "server/target.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(TargetTest, OriginAndAbsoluteForm) {
  EXPECT_EQ(parse_target("/a/b?c=d?e")->path, "/a/b");
  EXPECT_EQ(parse_target("/a/b?c=d?e")->query, "c=d?e");
  const auto absolute = parse_target("HTTP://localhost:8090/a?b");
  EXPECT_EQ(absolute->authority, "localhost:8090");
  EXPECT_EQ(absolute->path, "/a");
  EXPECT_EQ(absolute->query, "b");
  EXPECT_EQ(parse_target("http://localhost")->path, "/");
  for (const char* text : {"", "*", "a", "localhost:80", "http://", "http:///a", "ftp://x/", "/a#b", "http://x?a"})
    EXPECT_FALSE(parse_target(text)) << text;
}

TEST(TargetTest, QueryParametersKeepOrderAndRepeats) {
  const auto query = parse_query("name=a&name=b+c&empty=&flag&&x%3D=%26");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->all("name"), (std::vector<std::string>{"a", "b c"}));
  EXPECT_EQ(*query->find("empty"), "");
  EXPECT_EQ(*query->find("flag"), "");
  EXPECT_EQ(*query->find("x="), "&");
  EXPECT_EQ(query->find("y"), nullptr);
}

TEST(TargetTest, MalformedQueriesAreRefused) {
  for (const char* query : {"a=%", "a=%1", "a=%00", "%ff=1", "a=%g0"}) EXPECT_FALSE(parse_query(query)) << query;
  std::string flood;
  for (int i = 0; i < 1000; ++i) flood += "a&";
  EXPECT_FALSE(parse_query(flood));
}

TEST(TargetTest, AQueryMayHoldLineBreaksAndAPathMayNot) {
  EXPECT_EQ(*parse_query("a=%0A")->find("a"), "\n");
  EXPECT_FALSE(percent_decoded("%0A"));
}

}  // namespace
}  // namespace bj
