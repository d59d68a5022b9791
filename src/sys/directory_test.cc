#include "sys/directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sys/files.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

struct DirectoryTest : testing::Test {
  void SetUp() override {
    Result<Fd> opened = open_path(root, O_RDONLY | O_DIRECTORY);
    ASSERT_TRUE(opened);
    dir = std::move(*opened);
  }
  void touch(const std::string& name) const { std::ofstream(root + "/" + name) << "text"; }

  ScratchDirectory own_directory;
  const std::string& root = own_directory.path();
  Fd dir;
};

TEST_F(DirectoryTest, EntriesComeByNameWithTheirKinds) {
  touch("b");
  std::filesystem::create_directory(root + "/a");
  std::filesystem::create_symlink("/etc/passwd", root + "/c");
  const auto page = read_directory(dir.get(), 10);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->entries.size(), 3u);
  EXPECT_TRUE(S_ISDIR(page->entries[0].status.st_mode));
  EXPECT_EQ(page->entries[1].status.st_size, 4);
  EXPECT_TRUE(S_ISLNK(page->entries[2].status.st_mode));
  EXPECT_EQ(page->entries[2].link_target, "/etc/passwd");
  EXPECT_FALSE(page->cut);
}

TEST_F(DirectoryTest, AFullDirectoryIsCutAndSaysSo) {
  for (int i = 0; i < 20; ++i) touch(std::to_string(i));
  const auto page = read_directory(dir.get(), 5);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->entries.size(), 5u);
  EXPECT_TRUE(page->cut);
  EXPECT_FALSE(read_directory(dir.get(), 20)->cut);
}

TEST_F(DirectoryTest, TheTextOfALinkIsReadFromItsDescriptor) {
  std::filesystem::create_symlink("somewhere", root + "/link");
  const auto link = open_path(root + "/link", O_PATH | O_NOFOLLOW);
  ASSERT_TRUE(link);
  EXPECT_EQ(*link_text(link->get()), "somewhere");
}

}  // namespace
}  // namespace bj
