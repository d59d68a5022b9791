#include "engine/instance_alive.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "engine/instance_lock.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

TEST(InstanceAliveTest, AnInstanceIsAliveAsLongAsItHoldsItsLock) {
  const ScratchDirectory scratch;
  const std::string& directory = scratch.path();
  std::string name;
  {
    Result<InstanceLock> lock = InstanceLock::take(directory, "here");
    ASSERT_TRUE(lock);
    name = lock->name();
    EXPECT_TRUE(instance_alive(directory, name));
  }  // the lock is gone with it, the file is not: as after a kill
  EXPECT_TRUE(std::filesystem::exists(directory + "/" + name));
  EXPECT_FALSE(instance_alive(directory, name));
  EXPECT_FALSE(instance_alive(directory, "nobody"));
  EXPECT_FALSE(instance_alive(directory, "../" + name));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace bj
