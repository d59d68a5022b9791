#include "sys/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "sys/files.h"
#include "sys/shared_memory.h"

namespace bj {
namespace {

// Two openings of one file: a copy of a descriptor would have the same lock.
struct Opened {
  Fd file = new_memory_file("test").value();
  Fd again = open_path("/proc/self/fd/" + std::to_string(file.get()), O_RDWR).value();
};

TEST(FileLockTest, OneAloneKeepsAllOthersOut) {
  const Opened opened;
  ASSERT_TRUE(lock_file(opened.file.get(), Lock::kAlone, "test"));
  EXPECT_FALSE(try_lock_file(opened.again.get(), Lock::kShared, "test").value());
  EXPECT_FALSE(try_lock_file(opened.again.get(), Lock::kAlone, "test").value());
  unlock_file(opened.file.get());
  EXPECT_TRUE(try_lock_file(opened.again.get(), Lock::kAlone, "test").value());
}

TEST(FileLockTest, SeveralShareAndGoWithTheirDescriptors) {
  Opened opened;
  ASSERT_TRUE(lock_file(opened.file.get(), Lock::kShared, "test"));
  EXPECT_TRUE(try_lock_file(opened.again.get(), Lock::kShared, "test").value());
  EXPECT_FALSE(try_lock_file(opened.again.get(), Lock::kAlone, "test").value());
  opened.file.reset();
  EXPECT_TRUE(try_lock_file(opened.again.get(), Lock::kAlone, "test").value());
}

TEST(FileLockTest, WhatIsNoFileIsAFailureAndNotALockOfSomebodyElse) {
  EXPECT_EQ(try_lock_file(-1, Lock::kAlone, "test").error().sys, EBADF);
  EXPECT_EQ(lock_file(-1, Lock::kShared, "test").error().sys, EBADF);
}

}  // namespace
}  // namespace bj
