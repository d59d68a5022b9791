#include "engine/warden_client.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <cstring>

#include "sys/socket.h"

namespace bj {
namespace {

// The other end is a warden that does what the test says.
class WardenClientTest : public testing::Test {
 protected:
  void SetUp() override {
    auto ends = socket_pair(SOCK_SEQPACKET);
    ASSERT_TRUE(ends);
    warden_ = std::move(ends->second);
    client_ = std::make_shared<WardenClient>(context_.get_executor(), std::move(ends->first));
  }

  void poll() {
    context_.restart();
    context_.poll();
  }
  // The next request that it was sent; of no operation: none.
  ward::Request take() {
    poll();
    ward::Request request{};
    std::vector<char> bytes(ward::kMaxMessage);
    const Result<Message> message = receive_message(warden_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (message && message->size >= sizeof request) std::memcpy(&request, bytes.data(), sizeof request);
    return request;
  }
  void says(const ward::Reply& reply) {
    ASSERT_TRUE(send_message(warden_.get(), {reinterpret_cast<const char*>(&reply), sizeof reply}, {}));
    poll();
  }

  asio::io_context context_;
  Fd warden_;
  std::shared_ptr<WardenClient> client_;
};

// Once it ran on although whoever asked for it had been told that it could not be started: of a sandbox that is paused
// a request is answered when it goes on.
TEST_F(WardenClientTest, AProcessThatBeginsWhenNobodyWaitsForItAnyMoreIsEnded) {
  asio::cancellation_signal give_up;
  std::optional<Result<SpawnReply>> started;
  const auto ask = [&]() -> Task<void> {
    co_await asio::this_coro::throw_if_cancelled(false);
    SpawnRequest request;
    request.arguments = {"program"};
    started = co_await client_->spawn(std::move(request));
  };
  asio::co_spawn(context_, ask, asio::bind_cancellation_slot(give_up.slot(), asio::detached));
  const ward::Request asked = take();
  ASSERT_EQ(asked.op, ward::Op::kSpawn);
  give_up.emit(asio::cancellation_type::terminal);
  poll();
  ASSERT_TRUE(started);
  EXPECT_FALSE(*started);
  says({asked.id, ward::ReplyKind::kDone, 42, 0, 0, 0, 0});
  const ward::Request ended = take();
  EXPECT_EQ(ended.op, ward::Op::kSignal);
  EXPECT_EQ(ended.number, -42);
  EXPECT_EQ(ended.flags, static_cast<uint32_t>(SIGKILL));
}

TEST_F(WardenClientTest, AProcessThatIsWaitedForRunsOnAndItsEndIsTold) {
  std::optional<Result<SpawnReply>> started;
  spawn(context_.get_executor(), [&]() -> Task<void> {
    SpawnRequest request;
    request.arguments = {"program"};
    started = co_await client_->spawn(std::move(request));
  });
  const ward::Request asked = take();
  says({asked.id, ward::ReplyKind::kDone, 42, 0, 0, 0, 0});
  ASSERT_TRUE(started && *started);
  EXPECT_EQ((*started)->pid, 42);
  std::optional<Result<ExitReport>> exit;
  spawn(context_.get_executor(), [&]() -> Task<void> { exit = co_await (*started)->exit->get(); });
  says({0, ward::ReplyKind::kExit, 42, 256, 0, 0, 0});
  ASSERT_TRUE(exit && *exit);
  EXPECT_EQ((*exit)->status, 256);
  EXPECT_EQ(static_cast<int>(take().op), 0);
}

}  // namespace
}  // namespace bj
