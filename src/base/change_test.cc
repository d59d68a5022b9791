#include "base/change.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

class ChangeTest : public testing::Test {
 protected:
  void wait(Change& change, Clock::time_point latest = Clock::time_point::max()) {
    spawn(context_.get_executor(), [this, &change, latest]() -> Task<void> {
      co_await change.wait_until(latest);
      ++woken_;
    });
  }

  asio::io_context context_;
  int woken_ = 0;
};

TEST_F(ChangeTest, AllWhoWaitAreWokenAndNobodyTwice) {
  Change change(context_.get_executor());
  for (int i = 0; i < 3; ++i) wait(change);
  context_.poll();
  EXPECT_EQ(woken_, 0);
  change.tell();
  change.tell();
  context_.poll();
  EXPECT_EQ(woken_, 3);
}

TEST_F(ChangeTest, NobodyWaitsLongerThanHeWants) {
  Change change(context_.get_executor());
  wait(change, Clock::now());
  context_.run();
  EXPECT_EQ(woken_, 1);
}

TEST_F(ChangeTest, WhoWaitsOutlivesIt) {
  auto change = std::make_optional<Change>(context_.get_executor());
  wait(*change);
  context_.poll();
  change.reset();
  context_.run();
  EXPECT_EQ(woken_, 1);
}

// With one timer for all, which each sets anew, they would wake each other for ever.
TEST_F(ChangeTest, WhoWaitsAgainWakesNobodyElse) {
  Change change(context_.get_executor());
  bool over = false;
  for (int i = 0; i < 10; ++i) {
    spawn(context_.get_executor(), [&]() -> Task<void> {
      while (!over) co_await change.wait();
      ++woken_;
    });
  }
  context_.poll();
  change.tell();
  EXPECT_LT(context_.run_for(std::chrono::milliseconds(20)), 100u);
  EXPECT_EQ(woken_, 0);
  over = true;
  change.tell();
  context_.run();
  EXPECT_EQ(woken_, 10);
}

}  // namespace
}  // namespace bj
