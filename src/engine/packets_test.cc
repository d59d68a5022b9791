#include "engine/packets.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "sys/socket.h"

namespace bj {
namespace {

// A peer that has not read for a while, as a launcher that two hundred sandboxes are asked of at once.
class FullSocketTest : public testing::Test {
 protected:
  void SetUp() override {
    auto ends = socket_pair(SOCK_SEQPACKET);
    ASSERT_TRUE(ends);
    peer_ = std::move(ends->second);
    socket_ = std::make_shared<PacketSocket>(context_.get_executor(), std::move(ends->first), 4096);
    while (socket_->send(std::string(1000, 'x'))) ++waiting_;
    ASSERT_GT(waiting_, 0);
  }

  // Its first letter; 0: nothing is there.
  char take() {
    char byte = 0;
    return ::recv(peer_.get(), &byte, 1, MSG_DONTWAIT) > 0 ? byte : '\0';
  }

  asio::io_context context_;
  std::shared_ptr<PacketSocket> socket_;
  Fd peer_;
  int waiting_ = 0;
};

TEST_F(FullSocketTest, WhatIsDeliveredWaitsForRoom) {
  std::vector<Result<void>> delivered;
  for (int i = 0; i < 3; ++i) {
    spawn(context_.get_executor(),
          [this, &delivered]() -> Task<void> { delivered.push_back(co_await socket_->deliver("last", {})); });
  }
  context_.poll();
  EXPECT_TRUE(delivered.empty());
  for (; waiting_ > 0; --waiting_) ASSERT_EQ(take(), 'x');
  context_.restart();
  context_.run();
  ASSERT_EQ(delivered.size(), 3u);
  for (const Result<void>& one : delivered) EXPECT_TRUE(one);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(take(), 'l');
}

TEST_F(FullSocketTest, ADeliveryToAPeerThatEndsFails) {
  std::optional<Result<void>> delivered;
  spawn(context_.get_executor(),
        [this, &delivered]() -> Task<void> { delivered = co_await socket_->deliver("last", {}); });
  context_.poll();
  peer_.reset();
  context_.restart();
  context_.run();
  ASSERT_TRUE(delivered);
  EXPECT_FALSE(*delivered);
}

// What a zygote imports may write to its socket without end: no other call was heard, and no wall time ended,
// meanwhile.
TEST(PacketSocketTest, APeerThatSendsWithoutEndLeavesTurnsToOthers) {
  constexpr int kGivingUp = 100'000;
  asio::io_context context;
  auto ends = socket_pair(SOCK_SEQPACKET);
  ASSERT_TRUE(ends);
  const auto socket = std::make_shared<PacketSocket>(context.get_executor(), std::move(ends->first), 4096);
  const auto send_one = [&] { ASSERT_EQ(::send(ends->second.get(), "x", 1, MSG_DONTWAIT), 1); };
  int received = 0;
  send_one();
  socket->start(
      [&](std::string_view, const std::vector<Fd>&) {
        if (++received == 1) asio::post(context, [&] { socket->close(); });
        if (received < kGivingUp) send_one();
      },
      [] {});
  context.run();
  EXPECT_LT(received, 1000);
}

}  // namespace
}  // namespace bj
