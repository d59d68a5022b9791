#include "sys/bytes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "sys/pipe.h"
#include "sys/shared_memory.h"
#include "sys/socket.h"

namespace bj {
namespace {

TEST(BytesTest, AnEmptyPipeIsNotNowAndAClosedOneIsTheEnd) {
  Pipe pipe = make_pipe().value();
  ASSERT_EQ(::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK), 0);
  char byte = 0;
  const Moved nothing = read_some(pipe.read.get(), &byte, 1);
  EXPECT_TRUE(nothing.not_now());
  EXPECT_FALSE(nothing.ok());
  EXPECT_FALSE(nothing.ended());
  ASSERT_EQ(write_some(pipe.write.get(), "x").size, 1u);
  EXPECT_EQ(read_some(pipe.read.get(), &byte, 1).size, 1u);
  EXPECT_EQ(byte, 'x');
  pipe.write.reset();
  EXPECT_TRUE(read_some(pipe.read.get(), &byte, 1).ended());
}

TEST(BytesTest, APeerThatIsGoneIsAFailureAndNoSignal) {
  auto [ours, theirs] = socket_pair(SOCK_STREAM).value();
  theirs.reset();
  const Moved sent = send_some(ours.get(), "x");
  EXPECT_EQ(sent.sys, EPIPE);
  EXPECT_FALSE(sent.not_now());
  char byte = 0;
  EXPECT_TRUE(receive_some(ours.get(), &byte, 1).ended());
}

TEST(BytesTest, SeveralPartsAreFilledInTheirOrder) {
  const Pipe pipe = make_pipe().value();
  ASSERT_EQ(write_some(pipe.write.get(), "abc").size, 3u);
  std::array<char, 2> first{};
  std::array<char, 4> second{};
  const std::array<iovec, 2> parts{{{first.data(), first.size()}, {second.data(), second.size()}}};
  EXPECT_EQ(read_some(pipe.read.get(), parts).size, 3u);
  EXPECT_EQ(std::string(first.data(), 2) + second[0], "abc");
}

TEST(BytesTest, APieceOfAFileIsSentFromItsOffset) {
  const Fd file = new_memory_file("test").value();
  ASSERT_EQ(write_some(file.get(), "0123456789").size, 10u);
  const Pipe pipe = make_pipe().value();
  off_t offset = 7;
  EXPECT_EQ(send_file(pipe.write.get(), file.get(), offset, 100).size, 3u);
  EXPECT_EQ(offset, 10);
  EXPECT_TRUE(send_file(pipe.write.get(), file.get(), offset, 100).ended());
  std::array<char, 8> bytes{};
  EXPECT_EQ(read_some(pipe.read.get(), bytes.data(), bytes.size()).size, 3u);
  EXPECT_EQ(std::string(bytes.data(), 3), "789");
  EXPECT_EQ(read_at(file.get(), bytes.data(), 2, 4).size, 2u);
  EXPECT_EQ(std::string(bytes.data(), 2), "45");
}

// A handler without SA_RESTART: what waits in the kernel comes back with EINTR.
TEST(BytesTest, ASignalDoesNotEndARead) {
  static std::atomic<int> signals;
  signals = 0;
  struct sigaction action{}, before{};
  action.sa_handler = [](int) { ++signals; };
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  const Pipe pipe = make_pipe().value();
  std::atomic<bool> reading = false;
  Moved read;
  std::thread reader([&] {
    char byte = 0;
    reading = true;
    read = read_some(pipe.read.get(), &byte, 1);
  });
  while (!reading) std::this_thread::yield();
  while (signals < 100) {
    ::pthread_kill(reader.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  ASSERT_EQ(write_some(pipe.write.get(), "x").size, 1u);
  reader.join();
  EXPECT_TRUE(read.ok());
  EXPECT_EQ(read.size, 1u);
  ::sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace bj
