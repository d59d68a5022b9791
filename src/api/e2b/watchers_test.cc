#include "api/e2b/watchers.h"

#include <gtest/gtest.h>

namespace bj::e2b {
namespace {

TEST(KeptWatchesTest, WhatWasWatchedInASandboxThatIsGoneIsForgotten) {
  KeptWatches watches;
  const auto first = std::make_shared<KeptWatch>();
  const std::optional<std::string> id = watches.add("one", first);
  ASSERT_TRUE(id);
  ASSERT_TRUE(watches.add("two", std::make_shared<KeptWatch>()));
  EXPECT_EQ(watches.find("one", *id), first);
  first->gone = true;
  ASSERT_TRUE(watches.add("two", std::make_shared<KeptWatch>()));
  EXPECT_EQ(watches.find("one", *id), nullptr);
  EXPECT_EQ(first.use_count(), 1);
}

}  // namespace
}  // namespace bj::e2b
