#include "base/id.h"

#include <gtest/gtest.h>

#include <set>

namespace bj {
namespace {

// Letta's two checks: paths and managers are strict, models only look at the beginning.
TEST(IdTest, PathsAndModelsJudgeAsLettaDoes) {
  struct Case {
    const char* id;
    bool path_ok;
    bool model_ok;
  };
  const Case cases[] = {
      {"sandbox-123e4567-e89b-42d3-8456-426614174000", true, true},
      {"sandbox-123e4567-e89b-12d3-a456-426614174000", false, true},
      {"sandbox-12345678", false, true},
      {"SANDBOX-123e4567-e89b-42d3-8456-426614174000", false, false},
      {"sandbox-123E4567-e89b-42d3-8456-426614174000", false, true},
      {"sandbox-env-123e4567-e89b-42d3-8456-426614174000", false, false},
      {"123e4567-e89b-42d3-8456-426614174000", false, false},
      {"sandbox-123e4567-e89b-42d3-c456-426614174000", false, true},
      {"sandbox-123e4567-e89b-42d3-8456-426614174000\n", false, true},
      {"sandbox-", false, false},
      {"", false, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(is_id("sandbox", c.id), c.path_ok) << c.id;
    EXPECT_EQ(is_loose_id("sandbox", c.id), c.model_ok) << c.id;
  }
}

TEST(IdTest, ANewIdPassesItsOwnCheckAndIsNewEachTime) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; i++) {
    const std::string id = new_id("sandbox-env");
    EXPECT_TRUE(is_id("sandbox-env", id)) << id;
    EXPECT_FALSE(is_id("sandbox", id)) << id;
    EXPECT_TRUE(seen.insert(id).second);
  }
}

}  // namespace
}  // namespace bj
