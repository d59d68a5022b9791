#include "engine/tree_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

namespace fs = std::filesystem;

// Watches a directory of the host, opened as the warden would open one of a sandbox's.
class TreeWatchTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(root_); }

  void begin(WatchReach reach = WatchReach::kTree, size_t most = 100) {
    Fd inotify(::inotify_init1(IN_CLOEXEC));
    const Fd top(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(add_watch(inotify.get(), top.get(), TreeWatch::kMask));
    const auto open = [this](std::string relative) -> Task<Result<Fd>> {
      Fd fd(::open((root_ / relative).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!fd.ok()) co_return fail_errno("open");
      co_return fd;
    };
    watch_ = std::make_unique<TreeWatch>(io_.get_executor(), workers_, std::move(inotify), open, reach, most);
    begun_ = run<Result<void>>([this] { return watch_->begin(); });
  }
  void write(const std::string& name) { std::ofstream(root_ / name) << "x"; }
  // Until a change of that kind and name came; all of them.
  std::vector<FileChange> until(const FileChange& last) {
    std::vector<FileChange> all;
    while (std::find(all.begin(), all.end(), last) == all.end()) {
      const auto some = run<std::optional<std::vector<FileChange>>>([this] { return watch_->next(); });
      if (!some) break;
      all.insert(all.end(), some->begin(), some->end());
    }
    return all;
  }
  static int64_t count(const std::vector<FileChange>& all, const FileChange& one) {
    return std::count(all.begin(), all.end(), one);
  }
  template <class T, class F>
  T run(F body) {
    std::optional<T> result;
    asio::co_spawn(io_, [&]() -> Task<void> { result.emplace(co_await body()); }, asio::detached);
    io_.restart();
    while (!result && io_.run_one() > 0) {
    }
    return std::move(*result);
  }

  ScratchDirectory own_directory_;
  const fs::path scratch_ = own_directory_.path();
  fs::path root_ = scratch_ / "root";
  asio::io_context io_;
  asio::thread_pool workers_{1};
  std::unique_ptr<TreeWatch> watch_;
  Result<void> begun_;
};

TEST_F(TreeWatchTest, WhatChangesBelowIsToldWithItsRelativePath) {
  fs::create_directories(root_ / "a/b");
  begin();
  ASSERT_TRUE(begun_);
  write("a/b/file");
  fs::rename(root_ / "a/b/file", root_ / "a/moved");
  fs::remove(root_ / "a/moved");
  const auto all = until({ChangeKind::kRemove, "a/moved"});
  EXPECT_EQ(all, (std::vector<FileChange>{{ChangeKind::kCreate, "a/b/file"},
                                          {ChangeKind::kWrite, "a/b/file"},
                                          {ChangeKind::kRename, "a/b/file"},
                                          {ChangeKind::kCreate, "a/moved"},
                                          {ChangeKind::kRemove, "a/moved"}}));
}

TEST_F(TreeWatchTest, WithoutTheTreeOnlyTheDirectoryItselfIsWatched) {
  fs::create_directories(root_ / "a");
  begin(WatchReach::kOne);
  write("a/below");
  write("here");
  EXPECT_EQ(until({ChangeKind::kWrite, "here"}).front(), (FileChange{ChangeKind::kCreate, "here"}));
}

TEST_F(TreeWatchTest, WhatWasPutIntoANewDirectoryBeforeItCouldBeWatchedIsToldOnce) {
  begin();
  fs::create_directories(root_ / "new/deep");
  write("new/deep/file");
  const auto all = until({ChangeKind::kWrite, "new/deep/file"});
  EXPECT_EQ(count(all, {ChangeKind::kCreate, "new"}), 1);
  EXPECT_EQ(count(all, {ChangeKind::kCreate, "new/deep"}), 1);
  EXPECT_EQ(count(all, {ChangeKind::kCreate, "new/deep/file"}), 1);
  write("new/deep/later");
  until({ChangeKind::kWrite, "new/deep/later"});
}

TEST_F(TreeWatchTest, AFileThatWasFoundRemovedAndMadeAgainIsToldAgain) {
  begin();
  fs::create_directory(root_ / "new");
  write("new/file");
  until({ChangeKind::kWrite, "new/file"});
  fs::remove(root_ / "new/file");
  write("new/file");
  const auto all = until({ChangeKind::kWrite, "new/file"});
  EXPECT_EQ(count(all, {ChangeKind::kRemove, "new/file"}), 1);
  EXPECT_EQ(count(all, {ChangeKind::kCreate, "new/file"}), 1);
}

TEST_F(TreeWatchTest, ADirectoryThatMovesIsToldUnderItsNewNameFromThenOn) {
  fs::create_directories(root_ / "old/deep");
  begin();
  fs::rename(root_ / "old", root_ / "new");
  until({ChangeKind::kCreate, "new"});
  write("new/deep/file");
  const auto all = until({ChangeKind::kWrite, "new/deep/file"});
  EXPECT_EQ(count(all, {ChangeKind::kCreate, "old/deep/file"}), 0);
}

TEST_F(TreeWatchTest, WhatLiesInADirectoryThatMovesInIsToldAsNew) {
  fs::create_directories(scratch_ / "outside/deep");
  std::ofstream(scratch_ / "outside/deep/file") << "x";
  begin();
  fs::rename(scratch_ / "outside", root_ / "in");
  const auto all = until({ChangeKind::kWrite, "in/deep/file"});
  EXPECT_EQ(count(all, {ChangeKind::kCreate, "in"}), 1);
  EXPECT_EQ(count(all, {ChangeKind::kCreate, "in/deep"}), 1);
  EXPECT_EQ(count(all, {ChangeKind::kCreate, "in/deep/file"}), 1);
}

TEST_F(TreeWatchTest, ALinkToADirectoryIsNotFollowed) {
  fs::create_directory(scratch_ / "elsewhere");
  fs::create_directory_symlink(scratch_ / "elsewhere", root_ / "link");
  begin();
  std::ofstream(scratch_ / "elsewhere/unseen") << "x";
  write("seen");
  EXPECT_EQ(until({ChangeKind::kWrite, "seen"}).front().name, "seen");
}

TEST_F(TreeWatchTest, TooManyDirectoriesAreRefusedAtTheStartAndToldLater) {
  for (int i = 0; i < 12; ++i) fs::create_directory(root_ / std::to_string(i));
  begin(WatchReach::kTree, 10);
  ASSERT_FALSE(begun_);
  EXPECT_EQ(begun_.error().code, Code::kUnprocessable);
  begin(WatchReach::kTree, 14);
  ASSERT_TRUE(begun_);
  fs::create_directories(root_ / "13/14/15");
  const auto all = until({ChangeKind::kLost, "13"});
  EXPECT_EQ(count(all, {ChangeKind::kLost, "13"}), 1);
}

TEST_F(TreeWatchTest, WhenTheDirectoryIsGoneSoIsTheWatch) {
  fs::create_directory(root_ / "top");
  root_ /= "top";
  begin();
  fs::remove(root_);
  EXPECT_EQ(until({ChangeKind::kLost, "never"}).back(), (FileChange{ChangeKind::kRemove, ""}));
}

}  // namespace
}  // namespace bj
