#include "sys/socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "sys/files.h"
#include "sys/pipe.h"

namespace bj {
namespace {

class SocketTest : public testing::Test {
 protected:
  void SetUp() override {
    auto ends = socket_pair(SOCK_SEQPACKET);
    ASSERT_TRUE(ends);
    std::tie(here_, there_) = std::move(*ends);
  }

  Result<Message> receive(int flags = MSG_DONTWAIT) {
    return receive_message(there_.get(), buffer_.data(), buffer_.size(), flags);
  }

  Fd here_, there_;
  std::array<char, 256> buffer_{};
};

TEST_F(SocketTest, BothEndsAreCloseOnExec) {
  EXPECT_EQ(::fcntl(here_.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_EQ(::fcntl(there_.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(GuardedSocketPairTest, OurEndTakesBytesAndNoDescriptors) {
  constexpr int kPassRights = 83;
  const auto probe = socket_pair(SOCK_STREAM).value();
  const int none = 0;
  if (::setsockopt(probe.first.get(), SOL_SOCKET, kPassRights, &none, sizeof none) != 0)
    GTEST_SKIP() << "this kernel can't refuse descriptors (Linux 6.16 can)";
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
    const auto ends = guarded_socket_pair(type).value();
    const auto sent = send_message(ends.second.get(), "x", {STDOUT_FILENO});
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().sys, EPERM);
    EXPECT_TRUE(send_message(ends.second.get(), "x", {}));
    EXPECT_TRUE(send_message(ends.first.get(), "x", {STDOUT_FILENO}));  // the other way they pass
  }
}

TEST_F(SocketTest, APacketArrivesWhole) {
  ASSERT_TRUE(send_message(here_.get(), "one", {}));
  ASSERT_TRUE(send_message(here_.get(), "two", {}));
  const auto message = receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(std::string_view(buffer_.data(), message->size), "one");
  EXPECT_FALSE(message->truncated);
  EXPECT_TRUE(message->descriptors.empty());
}

TEST_F(SocketTest, APassedDescriptorIsTheSameFileAndCloseOnExec) {
  Pipe pipe = make_pipe().value();
  ASSERT_TRUE(send_message(here_.get(), "take", {pipe.write.get()}));
  auto message = receive();
  ASSERT_TRUE(message);
  ASSERT_EQ(message->descriptors.size(), 1u);
  const Fd& passed = message->descriptors[0];
  EXPECT_NE(passed.get(), pipe.write.get());
  EXPECT_EQ(::fcntl(passed.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  ASSERT_TRUE(write_all(passed.get(), "hello", "pipe"));
  pipe.write.reset();
  message->descriptors.clear();
  EXPECT_EQ(read_all(pipe.read.get(), 100, "pipe").value(), "hello");
}

TEST_F(SocketTest, AsManyDescriptorsAsAllowedArriveInOrder) {
  std::vector<Fd> pipes;
  std::vector<int> numbers;
  for (size_t i = 0; i < kMaxPassed; ++i) {
    pipes.push_back(open_path("/proc/self/fd", O_RDONLY | O_DIRECTORY).value());
    numbers.push_back(pipes.back().get());
  }
  ASSERT_TRUE(send_message(here_.get(), "x", numbers));
  const auto message = receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->descriptors.size(), kMaxPassed);
  EXPECT_FALSE(message->truncated);
}

TEST_F(SocketTest, MoreDescriptorsThanAllowedAreNotSent) {
  const std::vector<int> numbers(kMaxPassed + 1, here_.get());
  EXPECT_FALSE(send_message(here_.get(), "x", numbers));
  EXPECT_EQ(receive().error().sys, EAGAIN);
}

// A hostile peer doesn't use our send_message.
TEST_F(SocketTest, APeerThatSendsTooManyDescriptorsIsMarkedTruncatedAndTheRestIsOwned) {
  constexpr size_t kTooMany = kMaxPassed + 40;
  alignas(cmsghdr) char control[CMSG_SPACE(kTooMany * sizeof(int))] = {};
  char byte = 'x';
  iovec part{&byte, 1};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(kTooMany * sizeof(int));
  for (size_t i = 0; i < kTooMany; ++i) reinterpret_cast<int*>(CMSG_DATA(rights))[i] = here_.get();
  ASSERT_EQ(::sendmsg(here_.get(), &header, 0), 1);

  const size_t before = list_directory(open_path("/proc/self/fd", O_RDONLY | O_DIRECTORY)->get())->size();
  {
    const auto message = receive();
    ASSERT_TRUE(message);
    EXPECT_TRUE(message->truncated);
    EXPECT_LE(message->descriptors.size(), kMaxPassed);
  }
  EXPECT_EQ(list_directory(open_path("/proc/self/fd", O_RDONLY | O_DIRECTORY)->get())->size(), before);
}

TEST_F(SocketTest, APacketLargerThanTheBufferIsMarkedTruncated) {
  ASSERT_TRUE(send_message(here_.get(), std::string(1000, 'x'), {}));
  const auto message = receive();
  ASSERT_TRUE(message);
  EXPECT_TRUE(message->truncated);
  EXPECT_LE(message->size, buffer_.size());
}

TEST_F(SocketTest, NothingToReadIsExhaustedNotAnEnd) {
  const auto message = receive();
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().code, Code::kExhausted);
  EXPECT_EQ(message.error().sys, EAGAIN);
}

TEST_F(SocketTest, APeerThatIsGoneIsAnEmptyMessage) {
  here_.reset();
  const auto message = receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->size, 0u);
}

TEST_F(SocketTest, SendingToAPeerThatIsGoneIsAnErrorNotASignal) {
  there_.reset();
  const auto sent = send_message(here_.get(), "x", {});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().sys, EPIPE);
}

}  // namespace
}  // namespace bj
