#include "cli/terminal.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(TerminalTest, ControlCharactersAreShownInsteadOfSent) {
  EXPECT_EQ(harmless("\x1b]0;title\x07\x1b[31mred\r\n\ttab"), "^[]0;title^G^[[31mred^M\n\ttab");
  EXPECT_EQ(harmless("\x7f"), "^?");
  EXPECT_EQ(harmless(std::string_view("\0", 1)), "^@");
}

TEST(TerminalTest, C1ControlsAreShownAsBytesAndAsCodePoints) {
  EXPECT_EQ(harmless("\x9b"
                     "31m"),
            "\\x9b31m");  // the byte: CSI for 8-bit terminals
  EXPECT_EQ(harmless("\xc2\x9b"
                     "31m"),
            "\\x9b31m");  // the code point: CSI for UTF-8 ones
}

TEST(TerminalTest, OrdinaryTextPasses) {
  const std::string text = "caf\xc3\xa9 \xc2\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n";
  EXPECT_EQ(harmless(text), text);
}

TEST(TerminalTest, ASequenceThatIsCutOffHidesNothing) {
  EXPECT_EQ(harmless("\xe2\x1b[0m"), "\xe2^[[0m");
  EXPECT_EQ(harmless("\xc2\x1b"), "\\xc2^[");
  EXPECT_EQ(harmless("\xc2"), "\\xc2");
}

TEST(TerminalTest, PiecesAreJudgedTogether) {
  TerminalFilter filter;
  EXPECT_EQ(filter.pass("a\xc2"), "a");
  EXPECT_EQ(filter.pass("\x9b"), "\\x9b");
  EXPECT_EQ(filter.pass("\xc2"), "");
  EXPECT_EQ(filter.pass("\xa9"), "\xc2\xa9");
  EXPECT_EQ(filter.finish(), "");
}

}  // namespace
}  // namespace bj
