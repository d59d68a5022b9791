#include "engine/calls/learned_imports.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

using Names = std::vector<std::string>;

TEST(LearnedImportsTest, AModuleIsLearnedAtItsThirdCall) {
  LearnedImports imports;
  EXPECT_FALSE(imports.learn({"json", "numpy"}));
  EXPECT_FALSE(imports.learn({"numpy"}));
  EXPECT_TRUE(imports.learn({"numpy"}));
  EXPECT_FALSE(imports.learn({"numpy"}));
  EXPECT_EQ(imports.with({"mine"}), (Names{"mine", "numpy"}));
}

TEST(LearnedImportsTest, WhatCouldNotBeImportedIsNotTriedAgain) {
  LearnedImports imports;
  for (int i = 0; i < 3; ++i) imports.learn({"broken"});
  imports.give_up({"broken"});
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(imports.learn({"broken"}));
  EXPECT_EQ(imports.with({}), Names{});
}

TEST(LearnedImportsTest, ThereIsAnEndToLearning) {
  LearnedImports imports;
  Names many;
  for (int i = 0; i < 100; ++i) many.push_back("m" + std::to_string(i));
  for (int i = 0; i < 3; ++i) imports.learn(many);
  EXPECT_EQ(imports.with({}).size(), 32u);
}

TEST(LearnedImportsTest, NamesThatToolsMakeUpAreNotKeptForEver) {
  LearnedImports imports;
  for (int i = 0; i < 100'000; ++i) imports.learn({"made_up_" + std::to_string(i)});
  EXPECT_LE(imports.known(), 1024u);
  for (int i = 0; i < 3; ++i) imports.learn({"numpy"});
  EXPECT_EQ(imports.with({}), Names{"numpy"});
}

}  // namespace
}  // namespace bj
