#include "egress/flow.h"

#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/write.hpp>

#include "egress/flow_totals.h"

namespace bj {
namespace {

using asio::ip::tcp;

class FlowTest : public testing::Test {
 protected:
  FlowTest() {
    tcp::acceptor acceptor(context_, {asio::ip::address_v4::loopback(), 0});
    program_.connect(acceptor.local_endpoint());
    flow_ = std::make_shared<Flow>(acceptor.accept(), totals_);
  }

  void say(const std::string& text) { asio::write(program_, asio::buffer(text)); }

  asio::io_context context_;
  FlowTotals totals_{nullptr};
  tcp::socket program_{context_};
  std::shared_ptr<Flow> flow_;
};

// A hello whose first byte came just as the silence was over was refused as incomplete.
TEST_F(FlowTest, ATimerThatWentOffInOneStepDoesNotEndTheNext) {
  say("a");
  std::string bytes;
  bool later = false;
  spawn(context_.get_executor(), [&]() -> Task<void> {
    (void)co_await flow_->peek(bytes, 1, Clock::now(), [](std::string_view) { return true; });
    say("b");
    const auto both = [](std::string_view now) { return now == "ab"; };
    later = co_await flow_->peek(bytes, 16, Clock::now() + std::chrono::seconds(30), both);
  });
  context_.run();
  EXPECT_TRUE(later) << bytes;
}

TEST_F(FlowTest, WhatWasPeekedStaysToBeRead) {
  say("hello");
  std::string bytes;
  spawn(context_.get_executor(), [&]() -> Task<void> {
    const auto whole = [](std::string_view now) { return now.size() == 5; };
    EXPECT_TRUE(co_await flow_->peek(bytes, 16, Clock::now() + std::chrono::seconds(30), whole));
  });
  context_.run();
  EXPECT_EQ(bytes, "hello");
  EXPECT_EQ(flow_->client().available(), 5u);
}

}  // namespace
}  // namespace bj
