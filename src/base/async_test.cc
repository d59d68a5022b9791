#include "base/async.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace bj {
namespace {

struct OffloadTest : testing::Test {
  void run(std::function<Task<void>()> body) {
    spawn(context.get_executor(), std::move(body));
    context.run();
  }
  asio::thread_pool pool{2};
  asio::io_context context;
};

TEST_F(OffloadTest, WorkRunsElsewhereAndTheWaiterGoesOnWhereItWas) {
  const auto here = std::this_thread::get_id();
  std::thread::id at_work, afterwards;
  run([&]() -> Task<void> {
    at_work = co_await offload(pool, [] { return std::this_thread::get_id(); });
    afterwards = std::this_thread::get_id();
  });
  EXPECT_NE(at_work, std::thread::id());
  EXPECT_NE(at_work, here);
  EXPECT_EQ(afterwards, here);
}

TEST_F(OffloadTest, WhatTheWorkThrowsIsThrownWhereItIsAwaited) {
  std::string what;
  run([&]() -> Task<void> {
    try {
      co_await offload(pool, []() -> int { throw std::runtime_error("too much"); });
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
  });
  EXPECT_EQ(what, "too much");
}

TEST_F(OffloadTest, WhatATaskOfItsOwnThrowsComesOutOfRunAndTheOthersGoOn) {
  bool done = false;
  spawn(context.get_executor(), []() -> Task<void> {
    throw std::runtime_error("too much");
    co_return;
  });
  EXPECT_THROW(run([&]() -> Task<void> {
                 done = true;
                 co_return;
               }),
               std::runtime_error);
  context.run();
  EXPECT_TRUE(done);
}

// Else the io_context would think that it has nothing more to do.
TEST_F(OffloadTest, TheContextWaitsForWorkThatTakesLong) {
  bool done = false;
  run([&]() -> Task<void> {
    done = co_await offload(pool, [] {
      std::this_thread::yield();
      return true;
    });
  });
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace bj
