#include "control/expand_variables.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

const std::map<std::string, std::string> kVariables = {{"PATH", "/bin"}, {"A_1", "x"}, {"EMPTY", ""}};

TEST(ExpandVariablesTest, NamesWithAndWithoutBraces) {
  EXPECT_EQ(expand_variables("/opt:$PATH", kVariables), "/opt:/bin");
  EXPECT_EQ(expand_variables("${A_1}y$A_1/$NONE.", kVariables), "xyx/.");
}

TEST(ExpandVariablesTest, DefaultsAndAlternatives) {
  EXPECT_EQ(expand_variables("${NONE:-a}${EMPTY:-b}${A_1:-c}", kVariables), "abx");
  EXPECT_EQ(expand_variables("${NONE:+a}${A_1:+c}", kVariables), "c");
}

TEST(ExpandVariablesTest, NothingElseIsSpecial) {
  EXPECT_EQ(expand_variables("\\$PATH $(id) `id` $1 $ ${PATH", kVariables), "$PATH $(id) `id` $1 $ ${PATH");
  EXPECT_EQ(expand_variables("${!x} ${A b}", kVariables), "${!x} ${A b}");
}

}  // namespace
}  // namespace bj
