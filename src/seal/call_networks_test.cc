#include "seal/call_networks.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <thread>

#include "base/fd.h"
#include "sys/files.h"

namespace bj {
namespace {

ino_t own_network() {
  struct stat found{};
  return ::stat("/proc/thread-self/ns/net", &found) == 0 ? found.st_ino : 0;
}

Fd open_socket(int family, int type) { return Fd(::socket(family, type | SOCK_CLOEXEC, 0)); }

int connect_to(const Fd& socket, const char* address, uint16_t port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  ::inet_pton(AF_INET, address, &to.sin_addr);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

// Listens on a port that the kernel chooses, and returns it.
uint16_t listen_on(const Fd& socket) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), size), 0);
  EXPECT_EQ(::listen(socket.get(), 1), 0);
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  return ntohs(at.sin_port);
}

void connect_and_close() {
  const Fd listener = open_socket(AF_INET, SOCK_STREAM);
  Fd client = open_socket(AF_INET, SOCK_STREAM);
  ASSERT_EQ(connect_to(client, "127.0.0.1", listen_on(listener)), 0);
  const Fd server(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  client.reset();  // the first to close waits for a minute (TIME_WAIT)
}

// On a thread of its own, which has a network namespace of its own.
class CallNetworksTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "makes network namespaces: needs root";
  }

  void on_thread(const std::function<void()>& work) {
    std::thread thread(work);
    thread.join();
  }

  // Whether the namespace that a first child had, and used so, is the second one's as well.
  bool serves_again(const std::function<void()>& use) {
    bool again = false;
    on_thread([&] {
      ASSERT_EQ(networks_->prepare(), 0);
      const ino_t first = own_network();
      use();
      networks_->lend(1);
      networks_->give_back(1);
      ASSERT_EQ(networks_->prepare(), 0);
      again = own_network() == first;
    });
    return again;
  }

  std::unique_ptr<CallNetworks> networks_ = std::make_unique<CallNetworks>();
};

TEST_F(CallNetworksTest, AnUntouchedOneServesAgain) {
  EXPECT_TRUE(serves_again([] {}));
}

TEST_F(CallNetworksTest, APairOfSocketsLeavesNoTrace) {
  EXPECT_TRUE(serves_again([] {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ::close(ends[0]);
    ::close(ends[1]);
  }));
}

TEST_F(CallNetworksTest, ItIsNeverTheOneOfALivingChild) {
  on_thread([this] {
    ASSERT_EQ(networks_->prepare(), 0);
    const ino_t first = own_network();
    networks_->lend(1);
    ASSERT_EQ(networks_->prepare(), 0);
    EXPECT_NE(own_network(), first);
    networks_->lend(2);
    networks_->give_back(3);  // of whom nobody has heard
    ASSERT_EQ(networks_->prepare(), 0);
    EXPECT_NE(own_network(), first);
  });
}

TEST_F(CallNetworksTest, AConnectionEndsIt) { EXPECT_FALSE(serves_again(connect_and_close)); }

TEST_F(CallNetworksTest, ARefusedConnectionEndsIt) {
  EXPECT_FALSE(serves_again([] { EXPECT_LT(connect_to(open_socket(AF_INET, SOCK_STREAM), "127.0.0.1", 9), 0); }));
}

TEST_F(CallNetworksTest, AskingForAPlaceThatCannotBeReachedEndsIt) {
  EXPECT_FALSE(serves_again([] { EXPECT_LT(connect_to(open_socket(AF_INET, SOCK_DGRAM), "192.0.2.1", 53), 0); }));
}

TEST_F(CallNetworksTest, ADatagramEndsIt) {
  EXPECT_FALSE(serves_again([] {
    const Fd socket = open_socket(AF_INET, SOCK_DGRAM);
    ASSERT_EQ(connect_to(socket, "127.0.0.1", 9), 0);
    EXPECT_EQ(::send(socket.get(), "x", 1, 0), 1);
  }));
}

TEST_F(CallNetworksTest, LookingUpAnIPv6AddressEndsIt) {
  EXPECT_FALSE(serves_again([] {
    const Fd socket = open_socket(AF_INET6, SOCK_DGRAM);
    if (!socket.ok()) GTEST_SKIP() << "no IPv6 here";
    sockaddr_in6 to{};
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(9);
    to.sin6_addr = in6addr_loopback;
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }));
}

TEST_F(CallNetworksTest, ASocketThatIsStillThereEndsIt) {
  Fd socket;
  EXPECT_FALSE(serves_again([&socket] {
    socket = open_socket(AF_UNIX, SOCK_DGRAM);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    name.sun_path[1] = 'x';
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name.sun_family + 2), 0);
  }));
}

// In a process of its own, for a limit on namespaces of its own.
TEST_F(CallNetworksTest, WithoutANewOneTheProcessIsNotSaidToBeInOne) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool limited =
        ::unshare(CLONE_NEWUSER) == 0 && put_text(AT_FDCWD, "/proc/sys/user/max_net_namespaces", "0").has_value();
    if (!limited) ::_exit(2);
    ::_exit(networks_->prepare() == -ENOSPC && networks_->prepare() == -ENOSPC ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// More children than are kept track of, and more that end at once than are looked at.
TEST_F(CallNetworksTest, ManyChildrenDoNoHarm) {
  on_thread([this] {
    constexpr uint32_t kMany = 600;
    for (uint32_t child = 0; child < kMany; ++child) {
      ASSERT_EQ(networks_->prepare(), 0);
      networks_->lend(child);
    }
    for (uint32_t child = 0; child < kMany; ++child) networks_->give_back(child);
    EXPECT_EQ(networks_->prepare(), 0);
  });
}

}  // namespace
}  // namespace bj
