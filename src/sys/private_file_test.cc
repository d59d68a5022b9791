#include "sys/private_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

namespace fs = std::filesystem;

class PrivateFileTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  ScratchDirectory own_directory_;
  const std::string& directory_ = own_directory_.path();
};

TEST_F(PrivateFileTest, IsItsOwnersAloneAndNeverReplaced) {
  ASSERT_TRUE(write_private_file(path("key"), "first"));
  struct stat status{};
  ASSERT_EQ(::stat(path("key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_EQ(write_private_file(path("key"), "second").error().sys, EEXIST);
  EXPECT_EQ(read_private_file(path("key"), 100)->reveal(), "first");
}

TEST_F(PrivateFileTest, OneThatOthersMayReadIsRefused) {
  ASSERT_TRUE(write_private_file(path("key"), "text"));
  ASSERT_EQ(::chmod(path("key").c_str(), 0640), 0);
  EXPECT_EQ(read_private_file(path("key"), 100).error().code, Code::kDenied);
}

TEST_F(PrivateFileTest, OfTwoThatWereWrittenAsideTheFirstToBeNamedStays) {
  ASSERT_TRUE(write_private_file(path("aside.1"), "first"));
  ASSERT_TRUE(write_private_file(path("aside.2"), "second"));
  EXPECT_TRUE(name_once(path("aside.1"), path("key")));
  EXPECT_TRUE(name_once(path("aside.2"), path("key")));
  EXPECT_EQ(read_private_file(path("key"), 100)->reveal(), "first");
  EXPECT_FALSE(fs::exists(path("aside.1")));
  EXPECT_FALSE(fs::exists(path("aside.2")));
}

TEST_F(PrivateFileTest, OneThatCantBeNamedGoesAndTheFailureIsTold) {
  ASSERT_TRUE(write_private_file(path("aside"), "text"));
  EXPECT_EQ(name_once(path("aside"), path("missing/key")).error().code, Code::kNotFound);
  EXPECT_FALSE(fs::exists(path("aside")));
}

}  // namespace
}  // namespace bj
