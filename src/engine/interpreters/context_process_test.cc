#include "engine/interpreters/context_process.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "sys/files.h"

namespace bj {
namespace {

using Kind = ContextProcess::Piece::Kind;

// A context that is only its descriptors: the test writes what it would write.
class ContextProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<ContextPipes> pipes = ContextPipes::make();
    ASSERT_TRUE(pipes);
    channel_ = std::move(pipes->channel);
    output_ = std::move(pipes->output);
    error_ = std::move(pipes->error);
    process_ = ContextProcess::adopt(io_.get_executor(), std::move(pipes->ours));
  }
  void TearDown() override {
    process_->close();
    io_.restart();
    io_.poll();
  }
  static void write(const Fd& fd, std::string_view bytes) { ASSERT_TRUE(write_all(fd.get(), bytes, "test")); }
  void settle() {
    io_.restart();
    io_.poll();
  }
  Result<ContextMessage> first_message() {
    Result<ContextMessage> message = fail(Code::kInternal, "");
    spawn(io_.get_executor(), [&]() -> Task<void> {
      message = co_await process_->message_within(std::chrono::seconds(30));
      io_.stop();
    });
    io_.restart();
    io_.run();
    return message;
  }

  asio::io_context io_;
  Fd channel_, output_, error_;
  std::shared_ptr<ContextProcess> process_;
};

const std::string kDone = encode_context_message({{"op", "done"}, {"nonce", "n"}});

TEST_F(ContextProcessTest, WhatWasPrintedBeforeAMessageIsGivenBeforeIt) {
  write(channel_, kDone);  // its readiness is seen first
  settle();
  write(output_, "out");
  write(error_, "err");
  auto piece = process_->take();
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->bytes, "out");
  piece = process_->take();
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->kind, Kind::kErrorOutput);
  piece = process_->take();
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->kind, Kind::kMessage);
  EXPECT_FALSE(process_->take());
}

TEST_F(ContextProcessTest, OutputWithoutEndDoesNotHoldUpAMessage) {
  const std::string much(65536, 'x');
  write(channel_, kDone);
  settle();
  bool told = false;
  for (int i = 0; i < 100 && !told; ++i) {
    write(output_, much);  // as fast as it is read
    const auto piece = process_->take();
    ASSERT_TRUE(piece);
    told = piece->kind == Kind::kMessage;
  }
  EXPECT_TRUE(told);
}

TEST_F(ContextProcessTest, AMessageThatIsLargerThanTheSocketArrives) {
  const std::string frame =
      encode_context_message({{"op", "result"}, {"nonce", "n"}, {"data", {{"text/plain", std::string(4 << 20, 'x')}}}});
  std::thread writer([&] { (void)write_all(channel_.get(), frame, "channel"); });
  const Result<ContextMessage> message = first_message();
  writer.join();
  ASSERT_TRUE(message) << message.error().what;
  EXPECT_EQ(message->data.at("text/plain").as_string().size(), size_t{4} << 20);
}

TEST_F(ContextProcessTest, AForgedFrameOrAClosedChannelIsTheEnd) {
  write(channel_, std::string_view("\xff\xff\xff\x7fJ", 5));
  EXPECT_FALSE(first_message());
  EXPECT_TRUE(process_->over());
  SetUp();
  write(output_, "last words");
  channel_.reset();
  settle();
  const auto piece = process_->take();
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->bytes, "last words");
  EXPECT_FALSE(process_->take());
  EXPECT_TRUE(process_->over());
}

TEST_F(ContextProcessTest, AFloodOfOtherMessagesEndsWithPatience) {
  std::string many;
  while (many.size() < (1 << 20)) many += kDone;
  std::thread writer([&] {
    while (::send(channel_.get(), many.data(), many.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(many.size())) {
    }
  });
  Result<ContextMessage> message = fail(Code::kInternal, "");
  spawn(io_.get_executor(), [&]() -> Task<void> {
    message = co_await process_->message_within(std::chrono::milliseconds(300), "another nonce");
    process_->close();
  });
  io_.run();
  writer.join();
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().what, "the context does not answer");
}

// One that never has to wait, because it is sent more than it can read, kept the whole server's thread for itself.
TEST_F(ContextProcessTest, WhoWasBusyForLongGivesWayToOthers) {
  bool others = false;
  std::vector<bool> seen;
  spawn(io_.get_executor(), [&]() -> Task<void> {
    process_->set_reading(ContextProcess::Reading::kOn);
    asio::post(io_, [&] { others = true; });
    co_await process_->give_way();
    seen.push_back(others);
    for (const auto began = Clock::now(); Clock::now() - began < std::chrono::milliseconds(5);) (void)process_->take();
    co_await process_->give_way();
    seen.push_back(others);
    process_->close();
  });
  io_.run();
  EXPECT_EQ(seen, (std::vector<bool>{false, true}));
}

TEST_F(ContextProcessTest, BetweenExecutionsWhatComesIsThrownAway) {
  process_->set_reading(ContextProcess::Reading::kOff);
  write(output_, "nobody hears this");
  write(channel_, kDone);
  settle();
  process_->set_reading(ContextProcess::Reading::kOn);
  write(output_, "this");
  settle();
  const auto piece = process_->take();
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->bytes, "this");
  EXPECT_FALSE(process_->take());
}

TEST_F(ContextProcessTest, WhatItDoesNotReadYetIsWrittenLater) {
  const std::string much(1 << 20, 'c');
  process_->write(much);
  std::string got;
  while (got.size() < much.size()) {
    char buffer[65536];
    const ssize_t n = ::read(channel_.get(), buffer, sizeof buffer);
    ASSERT_GT(n, 0);
    got.append(buffer, static_cast<size_t>(n));
    settle();
  }
  EXPECT_EQ(got, much);
}

}  // namespace
}  // namespace bj
