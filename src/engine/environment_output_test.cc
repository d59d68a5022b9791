#include "engine/environment_output.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace bj {
namespace {

TEST(EnvironmentOutputTest, OfPipTheLastLinesWithoutWarningsAndNotices) {
  EXPECT_EQ(relevant_lines(Language::kPython,
                           "WARNING: slow\n  ERROR: no version of x\r\n\n[notice] new release\nERROR: none found\n"),
            "  ERROR: no version of x\nERROR: none found");
}

TEST(EnvironmentOutputTest, OfNpmOnlyErrorsWithoutTheirMark) {
  EXPECT_EQ(relevant_lines(Language::kTypeScript,
                           "npm http fetch GET 404\nnpm ERR! code E404\nnpm error 404 Not Found\n"
                           "npm ERR! A complete log of this run can be found in: /home/user/.npm/_logs/x\n"),
            "code E404\n404 Not Found");
}

TEST(EnvironmentOutputTest, WithoutBoundOnItsInputItsLengthIsBounded) {
  std::string errors;
  for (int i = 0; i < 10'000; ++i) errors += std::string(2000, 'x') + "\n";
  EXPECT_LE(relevant_lines(Language::kPython, errors).size(), 5000u);
  errors.clear();
  for (int i = 0; i < 10'000; ++i) errors += "line\n";
  const std::string kept = relevant_lines(Language::kPython, errors);
  EXPECT_LE(std::count(kept.begin(), kept.end(), '\n'), 20);
}

TEST(EnvironmentOutputTest, ControlCharactersAreShownNotSent) {
  EXPECT_EQ(relevant_lines(Language::kPython, "\033]0;evil\007\n"), "\\x1b]0;evil\\x07");
}

}  // namespace
}  // namespace bj
