#include "cli/ignore_rules.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(IgnoreRulesTest, ARuleIsOfTheWholePathAndOfWhatLiesBelow) {
  const IgnoreRules rules("# not this\n\n/node_modules/\n*.log\n  ./build/out  \n");
  for (const char* path : {"node_modules", "node_modules/a/b.js", "x.log", "build/out", "build/out/x"})
    EXPECT_TRUE(rules.ignores(path)) << path;
  for (const char* path : {"src/node_modules", "src/x.log", "build", "build/outer", "# not this"})
    EXPECT_FALSE(rules.ignores(path)) << path;
  EXPECT_FALSE(rules.has_exceptions());
}

TEST(IgnoreRulesTest, TwoStarsAreAnyNumberOfDirectories) {
  const IgnoreRules rules("**/*.pyc\nsrc/**/test\ndata/**\n**/.git");
  for (const char* path : {"a.pyc", "a/b/c.pyc", "src/test", "src/a/b/test", "data/x/y", ".git/HEAD", "sub/.git"})
    EXPECT_TRUE(rules.ignores(path)) << path;
  for (const char* path : {"a.py", "src/tests", "test", "a/.gitignore"}) EXPECT_FALSE(rules.ignores(path)) << path;
}

TEST(IgnoreRulesTest, OfSeveralTheLastThatMatchesDecides) {
  const IgnoreRules rules("*\n!src\n!README*\nsrc/secret\n!src/secret/public.txt");
  for (const char* path : {"src/main.c", "src", "README.md", "src/secret/public.txt"})
    EXPECT_FALSE(rules.ignores(path)) << path;
  for (const char* path : {"Makefile", "src/secret", "src/secret/key"}) EXPECT_TRUE(rules.ignores(path)) << path;
  EXPECT_TRUE(rules.has_exceptions());
}

TEST(IgnoreRulesTest, QuestionMarksClassesAndBackslashes) {
  const IgnoreRules rules("a?c\n[0-9]x\n[^a-y]z\nstar\\*");
  for (const char* path : {"abc", "7x", "zz", "star*"}) EXPECT_TRUE(rules.ignores(path)) << path;
  for (const char* path : {"a/c", "ac", "xx", "bz", "start"}) EXPECT_FALSE(rules.ignores(path)) << path;
  for (const char* damaged : {"[", "[a", "a\\", "[^", "[a-"}) EXPECT_FALSE(IgnoreRules(damaged).ignores("zzz"));
}

}  // namespace
}  // namespace bj
