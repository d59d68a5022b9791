#include "cli/seal_text.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

Seal full_seal() {
  Seal seal;
  for (size_t i = 1; i < static_cast<size_t>(Control::kCount); ++i)
    seal.set(static_cast<Control>(i), ControlState::kOn);
  return seal;
}

TEST(SealTextTest, AFullSealSaysSoAndWarnsOfNothing) {
  EXPECT_TRUE(seal_text(full_seal()).starts_with("seal: full\n"));
  EXPECT_EQ(seal_warning(full_seal()), "");
}

TEST(SealTextTest, EveryControlIsInAGroup) {
  const std::string text = seal_text(full_seal());
  for (size_t i = 1; i < static_cast<size_t>(Control::kCount); ++i) {
    const auto name = std::string(name_of(static_cast<Control>(i)));
    EXPECT_NE(text.find(" " + name), std::string::npos) << name;
  }
}

TEST(SealTextTest, WhatIsMissingIsNamed) {
  Seal seal = full_seal();
  seal.set(Control::kMemory, ControlState::kUnavailable, "no cgroup");
  EXPECT_NE(seal_text(seal).find("memory(unavailable)"), std::string::npos);
  EXPECT_NE(seal_warning(seal).find("it lacks memory ("), std::string::npos);
}

}  // namespace
}  // namespace bj
