#include "base/within.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

class WithinTest : public testing::Test {
 protected:
  // What comes of waiting so long for what `then` may do meanwhile.
  Result<int> wait(Clock::duration time, const std::function<void(OneShot<int>&)>& then) {
    const auto promise = std::make_shared<OneShot<int>>(context_.get_executor());
    Result<int> got = fail(Code::kInternal, "still waiting");
    spawn(context_.get_executor(), [&got, promise, time]() -> Task<void> { got = co_await get_within(promise, time); });
    asio::post(context_, [&] { then(*promise); });
    context_.run();
    return got;
  }

  asio::io_context context_;
};

TEST_F(WithinTest, WhatComesInTimeIsHad) {
  EXPECT_EQ(wait(std::chrono::hours(1), [](OneShot<int>& promise) { promise.set(7); }).value_or(0), 7);
}

TEST_F(WithinTest, WhatDoesNotComeIsWaitedForNoLonger) {
  const Result<int> got = wait(std::chrono::milliseconds(1), [](OneShot<int>&) {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().what, "it took too long");
}

TEST_F(WithinTest, ThatItWillNeverComeIsHeardAtOnce) {
  const Result<int> got = wait(std::chrono::hours(1), [](OneShot<int>& promise) { promise.close(); });
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().what, "the other side is gone");
}

}  // namespace
}  // namespace bj
