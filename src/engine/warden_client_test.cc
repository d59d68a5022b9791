// A warden that is late, or never answers: the other end of its socket is the test's.
#include "engine/warden_client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <csignal>

#include "sys/socket.h"

namespace bj {
namespace {

class LateWardenTest : public testing::Test {
 protected:
  void SetUp() override { connect(std::chrono::milliseconds(20)); }
  void connect(std::chrono::milliseconds patience) {
    if (warden_) warden_->close();
    auto ends = socket_pair(SOCK_SEQPACKET);
    ASSERT_TRUE(ends);
    inside_ = std::move(ends->second);
    warden_ = std::make_shared<WardenClient>(context_.get_executor(), std::move(ends->first), patience);
  }
  void TearDown() override {
    warden_->close();
    context_.run();
  }

  void begin_spawn() {
    spawn(context_.get_executor(), [this]() -> Task<void> {
      SpawnRequest request;
      request.arguments = {"sleep"};
      outcome_ = co_await warden_->spawn(std::move(request));
    });
  }
  // What it is asked next, if it is asked anything.
  std::optional<ward::Request> take() {
    std::array<char, 4096> bytes{};
    const ssize_t size = ::recv(inside_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    ward::Request request{};
    const char* strings = nullptr;
    if (size <= 0 || !ward::decode(bytes.data(), static_cast<size_t>(size), request, strings)) return std::nullopt;
    return request;
  }
  void answer(uint32_t id, int value) {
    ward::Reply reply{};
    reply.id = id;
    reply.kind = ward::ReplyKind::kDone;
    reply.value = value;
    ASSERT_EQ(::send(inside_.get(), &reply, sizeof reply, 0), static_cast<ssize_t>(sizeof reply));
  }
  void run_until(const std::function<bool()>& so) {
    context_.restart();
    while (!so() && context_.run_one_for(std::chrono::seconds(5)) > 0) {
    }
  }

  asio::io_context context_;
  Fd inside_;
  std::shared_ptr<WardenClient> warden_;
  std::optional<Result<SpawnReply>> outcome_;
};

// Once, a command that was refused because its sandbox had just been paused ran when it was resumed.
TEST_F(LateWardenTest, AProcessThatStartsAfterItsRequestWasGivenUpIsKilled) {
  begin_spawn();
  run_until([this] { return outcome_.has_value(); });
  ASSERT_TRUE(outcome_);
  ASSERT_FALSE(*outcome_);
  EXPECT_EQ(outcome_->error().code, Code::kUnavailable);
  const std::optional<ward::Request> asked = take();
  ASSERT_TRUE(asked);
  answer(asked->id, 42);
  std::optional<ward::Request> next;
  run_until([&] { return (next = take()).has_value(); });
  ASSERT_TRUE(next);
  EXPECT_EQ(next->op, ward::Op::kSignal);
  EXPECT_EQ(next->number, -42);
  EXPECT_EQ(next->flags, static_cast<uint32_t>(SIGKILL));
}

// Once, commands were refused when a copy of their sandbox's files took ten seconds.
TEST_F(LateWardenTest, WhoeverAsksOneThatStandsStillForAWhileWaits) {
  connect(std::chrono::milliseconds(300));  // this one answers, if only as fast as a busy machine lets it
  warden_->set_stillness(WardenClient::Stillness::kForAWhile);
  begin_spawn();
  asio::steady_timer later(context_, std::chrono::milliseconds(400));
  bool waited = false;
  later.async_wait([&](const boost::system::error_code&) { waited = true; });
  run_until([&] { return waited; });
  EXPECT_FALSE(outcome_);
  EXPECT_FALSE(take()) << "it lies there, and happens whatever comes of the request";
  warden_->set_stillness(WardenClient::Stillness::kNone);
  std::optional<ward::Request> asked;
  run_until([&] { return (asked = take()).has_value(); });
  ASSERT_TRUE(asked);
  answer(asked->id, 42);
  run_until([this] { return outcome_.has_value(); });
  ASSERT_TRUE(outcome_);
  ASSERT_TRUE(*outcome_) << outcome_->error().what;
  EXPECT_EQ((*outcome_)->pid, 42);
}

TEST_F(LateWardenTest, NothingThatAPausedOneIsAskedHappensWhenItGoesOnButSignals) {
  warden_->set_stillness(WardenClient::Stillness::kPaused);
  begin_spawn();
  run_until([this] { return outcome_.has_value(); });
  ASSERT_TRUE(outcome_);
  ASSERT_FALSE(*outcome_);
  EXPECT_EQ(outcome_->error().code, Code::kConflict);
  EXPECT_FALSE(take());
  spawn(context_.get_executor(), [this]() -> Task<void> { (void)co_await warden_->signal(7, SIGKILL); });
  std::optional<ward::Request> asked;
  run_until([&] { return (asked = take()).has_value(); });
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->op, ward::Op::kSignal);
}

}  // namespace
}  // namespace bj
