#include "engine/calls/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <optional>

#include "sys/files.h"
#include "sys/socket.h"

namespace bj {
namespace {

using testing::HasSubstr;

// A peer that sends bytes and goes: what read_frame makes of them.
class ReadFrameTest : public testing::Test {
 protected:
  void SetUp() override {
    auto ends = socket_pair(SOCK_STREAM);
    ASSERT_TRUE(ends);
    stream_ = std::make_unique<asio::posix::stream_descriptor>(context_, ends->first.release());
    stream_->native_non_blocking(true);
    peer_ = std::move(ends->second);
  }

  void send(std::string_view bytes) { ASSERT_TRUE(write_all(peer_.get(), bytes, "peer")); }

  Result<Frame> read(size_t limit) {
    std::optional<Result<Frame>> result;
    spawn(context_.get_executor(), [&]() -> Task<void> { result = co_await read_frame(*stream_, limit); });
    context_.restart();
    context_.run();
    return result ? std::move(*result) : Result<Frame>(fail(Code::kInternal, "read_frame did not return"));
  }

  // A header that claims `size` bytes of payload.
  static std::string header(uint32_t size) {
    std::string bytes = encode_frame(FrameType::kAnswer, "");
    for (size_t i = 0; i < sizeof size; ++i) bytes[i] = static_cast<char>(size >> (8 * i) & 0xff);
    return bytes;
  }

  asio::io_context context_;
  std::unique_ptr<asio::posix::stream_descriptor> stream_;
  Fd peer_;
};

TEST_F(ReadFrameTest, FramesAreReadOneAtATimeAndExactly) {
  send(encode_frame(FrameType::kReady, "") + encode_frame(FrameType::kAnswer, "four"));
  const Result<Frame> first = read(4), second = read(4);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->type, static_cast<char>(FrameType::kReady));
  EXPECT_EQ(first->payload, "");
  EXPECT_EQ(second->type, static_cast<char>(FrameType::kAnswer));
  EXPECT_EQ(second->payload, "four");
}

TEST_F(ReadFrameTest, AFrameAboveTheLimitIsRefusedBeforeItsBytesAreRead) {
  send(header(5));
  const Result<Frame> frame = read(4);
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code, Code::kInvalid);
  EXPECT_THAT(frame.error().what, HasSubstr("5 bytes; the limit is 4"));
}

TEST_F(ReadFrameTest, AStreamThatEndsInsideAFrameFails) {
  const std::string whole = encode_frame(FrameType::kAnswer, "payload");
  for (const size_t sent : {size_t{0}, size_t{1}, kFrameHeader - 1, kFrameHeader, whole.size() - 1}) {
    SetUp();
    send(whole.substr(0, sent));
    peer_.reset();
    const Result<Frame> frame = read(100);
    ASSERT_FALSE(frame) << sent;
    EXPECT_EQ(frame.error().code, Code::kUnavailable) << sent;
  }
}

TEST_F(ReadFrameTest, APeerThatGoesWithoutReadingWhatItWasSentHasEnded) {
  ASSERT_TRUE(write_all(stream_->native_handle(), "a call", "stream"));
  peer_.reset();
  const Result<Frame> frame = read(100);
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().what, "the process ended");
}

TEST_F(ReadFrameTest, AClaimedLengthTakesNoMemoryOfOurs) {
  constexpr uint32_t kClaimed = 1u << 30;
  constexpr long kMostKb = 64 * 1024;
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  send(header(kClaimed) + "few bytes");
  peer_.reset();
  EXPECT_FALSE(read(kClaimed));
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, kMostKb);
}

// A process that says nothing until it is killed.
class SilentRunner : public Runner {
 public:
  explicit SilentRunner(const asio::any_io_executor& executor) {
    auto ends = socket_pair(SOCK_STREAM);
    peer = std::move(ends->second);
    connect(executor, std::move(ends->first), Fd(::dup(peer.get())), Fd(::dup(peer.get())));
  }
  void kill() override {
    killed = true;
    ::shutdown(peer.get(), SHUT_RDWR);
  }
  Task<void> bury() override { co_return; }
  CgroupUsage used() const override { return {}; }
  const Seal& seal() const override { return seal_; }

  Fd peer;
  bool killed = false;

 private:
  Seal seal_;
};

// Once, it was waited for without an end, and with it the pool's refill and the end of the server.
TEST(AwaitReadyTest, OneThatDoesNotGetReadyIsKilled) {
  asio::io_context context;
  SilentRunner runner(context.get_executor());
  std::optional<Result<void>> ready;
  spawn(context.get_executor(),
        [&]() -> Task<void> { ready = co_await await_ready(runner, std::chrono::milliseconds(20)); });
  context.run_for(std::chrono::seconds(20));
  ASSERT_TRUE(ready);
  EXPECT_FALSE(*ready);
  EXPECT_TRUE(runner.killed);
}

TEST(AwaitReadyTest, OneThatIsReadyLivesOnBeyondThePatience) {
  asio::io_context context;
  SilentRunner runner(context.get_executor());
  ASSERT_TRUE(write_all(runner.peer.get(), encode_frame(FrameType::kReady, ""), "peer"));
  std::optional<Result<void>> ready;
  spawn(context.get_executor(),
        [&]() -> Task<void> { ready = co_await await_ready(runner, std::chrono::seconds(20)); });
  context.run();
  ASSERT_TRUE(ready);
  EXPECT_TRUE(*ready);
  EXPECT_FALSE(runner.killed);
}

}  // namespace
}  // namespace bj
