#include "cli/open_store.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace bj {
namespace {

TEST(OpenStoreTest, TheEncryptionKeyCountsFromAFileUnlessTheEnvironmentHasOne) {
  Settings settings;
  settings.tool_settings = {{"letta_encryption_key", "from file", "config.toml:2"}};
  const auto key = [&settings] { return std::string(store_options(settings).vault.letta_encryption_key.reveal()); };
  ::unsetenv("LETTA_ENCRYPTION_KEY");
  EXPECT_EQ(key(), "from file");
  ::setenv("LETTA_ENCRYPTION_KEY", "from environment", 1);
  EXPECT_EQ(key(), "from environment");
  ::setenv("LETTA_ENCRYPTION_KEY", "", 1);  // a value, too: none
  EXPECT_EQ(key(), "");
  ::unsetenv("LETTA_ENCRYPTION_KEY");
}

}  // namespace
}  // namespace bj
