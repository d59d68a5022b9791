#include "engine/environments/environment_copy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

class EnvironmentCopyTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string& dir : {from_, to_, from_ + "/lib", from_ + "/bin"})
      ASSERT_EQ(::mkdir(dir.c_str(), 0755), 0);
    ASSERT_TRUE(write_file_atomically(from_ + "/lib/a.py", "x = 1\n", 0600));
  }

  Result<CopyCounts> copy(const ImportLimits& limits = {}) {
    const Fd from = open_path(from_, O_RDONLY | O_DIRECTORY).value_or(Fd());
    const Fd to = open_path(to_, O_RDONLY | O_DIRECTORY).value_or(Fd());
    return copy_installed(from.get(), to.get(), "/opt/packages", limits);
  }
  void link(const std::string& target, const std::string& name) {
    ASSERT_EQ(::symlink(target.c_str(), (from_ + "/" + name).c_str()), 0);
  }
  void expect_refused(const std::string& word) {
    const auto copied = copy();
    ASSERT_FALSE(copied);
    EXPECT_NE(copied.error().what.find(word), std::string::npos) << copied.error().what;
  }

  ScratchDirectory own_directory_;
  const std::string& root_ = own_directory_.path();
  const std::string from_ = root_ + "/from", to_ = root_ + "/to";
};

TEST_F(EnvironmentCopyTest, FilesBecomeReadableByAllAndKeepTheirContents) {
  const auto copied = copy();
  ASSERT_TRUE(copied) << copied.error().what;
  EXPECT_EQ(copied->entries, 3u);
  EXPECT_EQ(copied->size_bytes, 6u);
  EXPECT_EQ(read_file(to_ + "/lib/a.py").value_or(""), "x = 1\n");
  struct stat info{};
  ASSERT_EQ(::stat((to_ + "/lib/a.py").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777u, 0644u);
}

TEST_F(EnvironmentCopyTest, LinksThatStayInsideAndTheInterpretersOwnAreKept) {
  link("a.py", "lib/b.py");
  link("lib", "lib64");
  link("../lib/a.py", "bin/tool");
  link("/opt/packages/lib/a.py", "bin/other");
  link("/usr/bin/python3", "bin/python3");
  const auto copied = copy();
  ASSERT_TRUE(copied) << copied.error().what;
  char target[64] = {};
  EXPECT_GT(::readlink((to_ + "/bin/python3").c_str(), target, sizeof target - 1), 0);
  EXPECT_STREQ(target, "/usr/bin/python3");
}

TEST_F(EnvironmentCopyTest, ASymlinkToThePasswordFileIsRefused) {
  link("/etc/passwd", "lib/data.txt");
  expect_refused("leads out");
}

TEST_F(EnvironmentCopyTest, ASymlinkThatClimbsOutIsRefused) {
  link("../../x", "lib/up");
  expect_refused("leads out");
}

TEST_F(EnvironmentCopyTest, ALinkNamedLikeAnInterpreterElsewhereIsRefused) {
  link("/etc/passwd", "lib/python3");
  expect_refused("leads out");
}

TEST_F(EnvironmentCopyTest, ASetUserIdFileIsRefused) {
  ASSERT_EQ(::chmod((from_ + "/lib/a.py").c_str(), 04755), 0);
  expect_refused("set-user-id");
}

TEST_F(EnvironmentCopyTest, AFifoIsRefusedAndNobodyWaitsForIt) {
  ASSERT_EQ(::mkfifo((from_ + "/lib/pipe").c_str(), 0644), 0);
  expect_refused("FIFO");
}

TEST_F(EnvironmentCopyTest, AFileOfAnotherOwnerIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown((from_ + "/lib/a.py").c_str(), 12345, 12345), 0);
  expect_refused("installer's own");
}

TEST_F(EnvironmentCopyTest, AHugeFileOfNothingIsRefusedByItsSize) {
  const Fd file = open_path(from_ + "/lib/huge", O_WRONLY | O_CREAT, 0644).value_or(Fd());
  ASSERT_EQ(::ftruncate(file.get(), 5ll << 30), 0);
  expect_refused("larger");
}

TEST_F(EnvironmentCopyTest, TooManyEntriesAreRefused) {
  ImportLimits limits;
  limits.max_entries = 2;
  EXPECT_FALSE(copy(limits));
}

}  // namespace
}  // namespace bj
