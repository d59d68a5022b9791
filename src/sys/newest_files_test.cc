#include "sys/newest_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "sys/files.h"
#include "sys/names.h"

namespace bj {
namespace {

namespace fs = std::filesystem;

TEST(NewestFilesTest, TheOldestGoUntilTheRestIsSmallEnough) {
  std::string directory = fs::temp_directory_path() / "belljar-newest-files-test.XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
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
  fs::remove_all(directory);
}

}  // namespace
}  // namespace bj
