#include "engine/instance_lock.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "sys/files.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class InstanceLockTest : public testing::Test {
 protected:
  InstanceLock take() {
    Result<InstanceLock> lock = InstanceLock::take(directory_, "note\n");
    EXPECT_TRUE(lock);
    return lock ? std::move(*lock) : InstanceLock();
  }
  // The name of an instance that was killed.
  std::string dead() { return take().name(); }
  bool has(const std::string& name) const { return fs::exists(directory_ + "/" + name); }

  ScratchDirectory own_directory_;
  const std::string& scratch_ = own_directory_.path();
  const std::string directory_ = scratch_ + "/instances";
};

TEST_F(InstanceLockTest, TheFileSaysWhatTheInstanceIs) {
  const InstanceLock lock = take();
  EXPECT_EQ(read_file(directory_ + "/" + lock.name()).value_or(""), "note\n");
}

TEST_F(InstanceLockTest, OnlyTheDeadAreCleanedAfter) {
  const InstanceLock mine = take(), living = take();
  const std::string gone = dead();
  std::vector<std::string> cleaned;
  mine.clean_after_dead([&](const std::string& name) {
    cleaned.push_back(name);
    return true;
  });
  EXPECT_THAT(cleaned, ElementsAre(gone));
  EXPECT_FALSE(has(gone));
  EXPECT_TRUE(has(living.name()));
  EXPECT_TRUE(has(mine.name()));
}

TEST_F(InstanceLockTest, WhatCouldNotBeRemovedIsLeftForTheNext) {
  const InstanceLock mine = take();
  const std::string gone = dead();
  mine.clean_after_dead([](const std::string&) { return false; });
  EXPECT_TRUE(has(gone));
}

TEST_F(InstanceLockTest, AReleasedInstanceLeavesNothing) {
  InstanceLock lock = take();
  lock.release();
  EXPECT_TRUE(fs::is_empty(directory_));
}

// A start that made its file and did not lock it yet looks dead; it must notice that its file was taken away.
TEST_F(InstanceLockTest, StartsThatCleanAtTheSameTimeAllEndUpWithAFileOfTheirOwn) {
  constexpr int kThreads = 4, kRounds = 200;
  std::vector<std::vector<InstanceLock>> taken(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([this, &mine] {
      for (int i = 0; i < kRounds; ++i) {
        mine.push_back(take());
        mine.back().clean_after_dead([](const std::string&) { return true; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  size_t files = 0;
  for (const auto& mine : taken) {
    for (const InstanceLock& lock : mine) files += has(lock.name()) ? 1 : 0;
  }
  EXPECT_EQ(files, size_t{kThreads} * kRounds);
}

}  // namespace
}  // namespace bj
