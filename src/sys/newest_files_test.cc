#include "sys/newest_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "sys/files.h"
#include "sys/names.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

namespace fs = std::filesystem;

TEST(NewestFilesTest, TheOldestGoUntilTheRestIsSmallEnough) {
  const ScratchDirectory scratch;
  const std::string& directory = scratch.path();
  for (int i = 0; i < 4; ++i) {  // within one second: the fractions count
    const std::string path = directory + "/" + std::to_string(i);
    ASSERT_TRUE(write_file_atomically(path, "0123456789", 0600));
    ASSERT_TRUE(change_times(AT_FDCWD, path, {timespec{1, i}, timespec{1, i}}));
  }
  keep_newest_files(directory, 25);
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(directory)) left.push_back(entry.path().filename());
  EXPECT_THAT(left, testing::UnorderedElementsAre("2", "3"));
  keep_newest_files(directory + "/missing", 0);
}

}  // namespace
}  // namespace bj
