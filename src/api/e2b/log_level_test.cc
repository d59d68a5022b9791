#include "api/e2b/log_level.h"

#include <gtest/gtest.h>

namespace bj::e2b {
namespace {

TEST(LogLevelTest, ALevelIsThatOneAndTheWeightierOnes) {
  EXPECT_TRUE(is_at_least("info", "info"));
  EXPECT_TRUE(is_at_least("error", "warn"));
  EXPECT_FALSE(is_at_least("info", "warn"));
  EXPECT_FALSE(is_at_least("debug", "info"));
  EXPECT_TRUE(is_at_least("debug", ""));
}

TEST(LogLevelTest, AnUnknownLevelIsTheCallersMistake) {
  EXPECT_TRUE(check_log_level("warn"));
  EXPECT_TRUE(check_log_level(""));
  const Result<void> unknown = check_log_level("loud");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::kInvalid);
}

}  // namespace
}  // namespace bj::e2b
