#include "base/error.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(Code::kInvalid, "half(" + std::to_string(number) + ")");
  return number / 2;
}

Result<int> quarter(int number) {
  BJ_TRY(const int once, half(number));
  BJ_TRY(const int twice, half(once));
  return twice;
}

Result<void> check_even(int number) {
  BJ_CHECK(half(number));
  return {};
}

TEST(ErrorTest, AFailedSystemCallNamesTheCallItsObjectAndTheReason) {
  errno = ENOENT;
  const Result<void> result = fail_errno("openat(/x)");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, "openat(/x): No such file or directory");
  EXPECT_EQ(result.error().code, Code::kNotFound);
  EXPECT_EQ(result.error().sys, ENOENT);
}

TEST(ErrorTest, ErrnosBecomeTheCodesThatCallersActOn) {
  EXPECT_EQ(code_of_errno(ESRCH), Code::kNotFound);
  EXPECT_EQ(code_of_errno(EPERM), Code::kDenied);
  EXPECT_EQ(code_of_errno(EACCES), Code::kDenied);
  EXPECT_EQ(code_of_errno(ENOSPC), Code::kExhausted);
  EXPECT_EQ(code_of_errno(EMFILE), Code::kExhausted);
  EXPECT_EQ(code_of_errno(EAGAIN), Code::kExhausted);
  EXPECT_EQ(code_of_errno(ENOSYS), Code::kUnavailable);
  EXPECT_EQ(code_of_errno(EIO), Code::kInternal);
}

TEST(ErrorTest, AFailureOfOurOwnHasNoErrno) {
  const Result<void> result = fail(Code::kInvalid, "no such template");
  EXPECT_EQ(result.error().sys, 0);
}

TEST(ErrorTest, TryBindsTheValueOrReturnsTheFirstError) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(3).error().what, "half(3)");
  EXPECT_EQ(quarter(6).error().what, "half(3)");
}

TEST(ErrorTest, CheckPassesAnErrorOn) {
  EXPECT_TRUE(check_even(2));
  EXPECT_EQ(check_even(5).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace bj
