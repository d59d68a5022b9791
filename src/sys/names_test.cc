#include "sys/names.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <unistd.h>

#include <filesystem>

#include "sys/directory.h"
#include "sys/files.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

namespace fs = std::filesystem;

// Works in a directory of its own, gone afterwards.
class NamesTest : public testing::Test {
 protected:
  void SetUp() override { dir_ = open_path(directory_, O_RDONLY | O_DIRECTORY).value(); }

  void put(const std::string& name) { ASSERT_TRUE(write_file_atomically(directory_ + "/" + name, "text", 0644)); }

  ScratchDirectory own_directory_;
  const std::string& directory_ = own_directory_.path();
  Fd dir_;
};

TEST_F(NamesTest, ANameThatIsTakenIsAFailureUnlessADirectoryIsEnsured) {
  put("taken");
  const int dir = dir_.get();
  EXPECT_EQ(make_directory(dir, "taken", 0755).error().sys, EEXIST);
  EXPECT_EQ(make_symlink("anywhere", dir, "taken").error().sys, EEXIST);
  EXPECT_EQ(make_link(dir, "taken", dir, "taken").error().sys, EEXIST);
  EXPECT_EQ(new_directory(dir, "taken", 0755).error().sys, EEXIST);
  EXPECT_TRUE(ensure_directory(dir, "taken", 0755));
  EXPECT_TRUE(S_ISREG(status_at(dir, "taken")->st_mode));
}

TEST_F(NamesTest, ANewDirectoryHasItsModeWhateverTheUmaskIs) {
  const mode_t before = ::umask(077);
  const Result<Fd> made = new_directory(dir_.get(), "open", 0777);
  ::umask(before);
  ASSERT_TRUE(made);
  EXPECT_EQ(status_at(made->get(), "")->st_mode & 07777, 0777u);
}

TEST_F(NamesTest, WhatIsMissingNeedNotBeRemoved) {
  EXPECT_TRUE(remove_file(dir_.get(), "missing"));
  put("file");
  EXPECT_EQ(remove_directory(dir_.get(), "file").error().sys, ENOTDIR);
  EXPECT_TRUE(remove_file(dir_.get(), "file"));
  EXPECT_EQ(status_at(dir_.get(), "file").error().sys, ENOENT);
}

TEST_F(NamesTest, ARenameReplacesUnlessItMustNot) {
  put("a");
  put("b");
  EXPECT_EQ(rename_at(dir_.get(), "a", "b", RENAME_NOREPLACE).error().sys, EEXIST);
  EXPECT_TRUE(rename_at(dir_.get(), "a", "b"));
  EXPECT_EQ(rename_at(dir_.get(), "a", "b").error().code, Code::kNotFound);
}

TEST_F(NamesTest, ASymlinkIsAskedAboutItselfAndKeepsWhatItPointsTo) {
  put("file");
  ASSERT_TRUE(make_symlink("file", dir_.get(), "link"));
  EXPECT_TRUE(S_ISLNK(status_at(dir_.get(), "link")->st_mode));
  EXPECT_EQ(link_text_at(dir_.get(), "link").value(), "file");
  EXPECT_FALSE(link_text_at(dir_.get(), "file"));
  ASSERT_TRUE(change_times(dir_.get(), "link", {timespec{1, 0}, timespec{2, 0}}));
  EXPECT_EQ(status_at(dir_.get(), "link")->st_mtim.tv_sec, 2);
  EXPECT_GT(status_at(dir_.get(), "file")->st_mtim.tv_sec, 2);
  EXPECT_EQ(real_path(directory_ + "/link").value(), real_path(directory_).value() + "/file");
  EXPECT_EQ(real_path(directory_ + "/missing").error().code, Code::kNotFound);
}

TEST_F(NamesTest, WithoutANameItIsTheDescriptorItself) {
  put("file");
  const Fd file = open_at(dir_.get(), "file", O_RDONLY).value();
  ASSERT_TRUE(change_times(file.get(), "", {timespec{1, 0}, timespec{2, 0}}));
  EXPECT_EQ(status_at(dir_.get(), "file")->st_mtim.tv_sec, 2);
  EXPECT_TRUE(change_owner(file.get(), "", ::geteuid(), ::getegid()));
  EXPECT_EQ(status_at(file.get(), "")->st_uid, ::geteuid());
}

}  // namespace
}  // namespace bj
