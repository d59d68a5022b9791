#include "engine/templates/usr_mask.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>

#include "sys/files.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

namespace fs = std::filesystem;

class UsrMaskTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(tree_);
    ASSERT_EQ(::chmod(tree_.c_str(), 0755), 0);
  }

  void file(const std::string& path, mode_t mode) {
    fs::create_directories(fs::path(tree_ + "/" + path).parent_path());
    ASSERT_TRUE(open_path(tree_ + "/" + path, O_CREAT | O_WRONLY, 0600));
    ASSERT_EQ(::chmod((tree_ + "/" + path).c_str(), mode), 0);
  }
  void directory(const std::string& path, mode_t mode) {
    fs::create_directories(tree_ + "/" + path);
    ASSERT_EQ(::chmod((tree_ + "/" + path).c_str(), mode), 0);
  }
  Result<void> make() {
    BJ_TRY(const Fd tree, open_path(tree_, O_RDONLY | O_DIRECTORY));
    return make_mask(tree.get(), mask());
  }
  std::string mask() const { return scratch_ + "/mask"; }
  bool hides(const std::string& path) const {
    struct stat info{};
    return ::lstat((mask() + "/" + path).c_str(), &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == makedev(0, 0);
  }
  bool has(const std::string& path) const { return fs::exists(fs::symlink_status(mask() + "/" + path)); }

  ScratchDirectory own_directory_;
  const std::string& scratch_ = own_directory_.path();
  const std::string tree_ = scratch_ + "/tree";
};

TEST_F(UsrMaskTest, ATreeThatOthersCanReadGetsNoMask) {
  file("bin/sh", 0755);
  file("share/text", 0644);
  ASSERT_TRUE(make());
  EXPECT_FALSE(fs::exists(mask()));
}

TEST_F(UsrMaskTest, WhatOthersCantReadIsHiddenAndNothingElse) {
  file("share/a/secret", 0600);
  file("share/a/text", 0644);
  file("bin/setuid", 04711);
  file("bin/group", 0640);
  directory("unlisted", 0711);
  directory("unentered", 0754);
  file("closed/key", 0644);
  directory("closed", 0700);
  ASSERT_TRUE(make());
  for (const char* path : {"share/a/secret", "bin/setuid", "bin/group", "unlisted", "unentered", "closed"}) {
    EXPECT_TRUE(hides(path)) << path;
  }
  EXPECT_FALSE(has("share/a/text"));
}

TEST_F(UsrMaskTest, ALinkIsNeitherHiddenNorFollowed) {
  directory("away", 0755);
  file("real/secret", 0600);
  fs::create_symlink("../real", tree_ + "/away/link");
  fs::create_symlink("/nowhere", tree_ + "/away/dangling");
  ASSERT_TRUE(make());
  EXPECT_TRUE(hides("real/secret"));
  EXPECT_FALSE(has("away"));
}

TEST_F(UsrMaskTest, DirectoriesOnTheWayLookLikeTheirOriginals) {
  file("share/sticky/secret", 0600);
  ASSERT_EQ(::chmod((tree_ + "/share/sticky").c_str(), 01777), 0);
  ASSERT_EQ(::chmod((tree_ + "/share").c_str(), 02755), 0);
  ASSERT_TRUE(make());
  for (const char* path : {"/share/sticky", "/share", ""}) {
    struct stat original{}, shown{};
    ASSERT_EQ(::stat((tree_ + path).c_str(), &original), 0);
    ASSERT_EQ(::stat((mask() + path).c_str(), &shown), 0);
    EXPECT_EQ(shown.st_mode, original.st_mode) << path;
    EXPECT_EQ(shown.st_uid, original.st_uid) << path;
    EXPECT_EQ(shown.st_mtim.tv_nsec, original.st_mtim.tv_nsec) << path;
  }
}

}  // namespace
}  // namespace bj
