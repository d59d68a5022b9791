#include "egress/gate.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <map>
#include <thread>

#include "egress/policy_json.h"

namespace bj {
namespace {

// A server on the machine's loopback, which an administrator has listed: the smallest world that a gate can reach.
class GateTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "makes a network namespace: needs root";
    boost::system::error_code ignored;
    server_.listen(8, ignored);
    port_ = server_.local_endpoint().port();
    inside([this] {
      ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
      Result<GateEndpoints> ends = furnish_gated_network();
      ASSERT_TRUE(ends) << ends.error().what;
      ends_ = std::move(*ends);
    });
  }

  void TearDown() override {
    if (gate_) gate_->stop();
    context_.run_for(std::chrono::milliseconds(50));
  }

  // On a thread that stays in the sandbox's network namespace; the gate goes on meanwhile.
  template <class Work>
  void inside(Work work) {
    std::promise<void> done;
    asio::post(sandbox_, [&] {
      work();
      done.set_value();
    });
    std::future<void> future = done.get_future();
    while (future.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      context_.run_for(std::chrono::milliseconds(5));
      context_.restart();  // it may have been without work
    }
  }

  NetworkPolicy policy(const std::string& rules) const {
    const std::string text =
        R"({"rules": [)" + rules + R"(], "private_addresses": ["127.0.0.1:)" + std::to_string(port_) + R"("]})";
    return parse_network_policy_text(text, PolicySource{"test", PolicyAuthor::kAdministrator, {}}).value();
  }
  std::string allow() const { return R"({"allow": "localhost", "ports": [)" + std::to_string(port_) + "]}"; }

  void open(NetworkPolicy policy) {
    const auto listener = [this](const GateEvent& event) { events_.push_back(event); };
    Result<std::shared_ptr<Gate>> gate =
        Gate::open(context_.get_executor(), std::move(ends_), std::move(policy), listener);
    ASSERT_TRUE(gate) << gate.error().what;
    gate_ = std::move(*gate);
  }

  // The address that the gate's DNS gives the name, by hand: the machine's hosts file knows it too.
  static sockaddr_in synthetic(uint16_t port) {
    const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(53);
    ::inet_pton(AF_INET, "192.0.2.53", &to.sin_addr);
    const char query[] = "\0\7\1\0\0\1\0\0\0\0\0\0\11localhost\0\0\1\0\1";
    (void)::sendto(socket.get(), query, sizeof query - 1, 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
    char answer[512];
    const ssize_t size = ::recv(socket.get(), answer, sizeof answer, 0);
    to.sin_port = htons(port);
    if (size > 4) std::memcpy(&to.sin_addr, answer + size - 4, 4);
    return to;
  }

  static int connect_error(const Fd& socket, const sockaddr_in& to) {
    return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 ? 0 : errno;
  }
  static sockaddr_in place(const char* address, uint16_t port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    ::inet_pton(AF_INET, address, &to.sin_addr);
    return to;
  }
  static Fd stream() { return Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

  asio::io_context context_;
  asio::thread_pool sandbox_{1};
  asio::ip::tcp::acceptor server_{context_, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0), false};
  asio::ip::tcp::socket accepted_{context_};  // a test may end before its connection is there
  uint16_t port_ = 0;
  GateEndpoints ends_;
  std::shared_ptr<Gate> gate_;
  std::vector<GateEvent> events_;
};

TEST_F(GateTest, APolicyThatChangesResetsWhatItNoLongerAllows) {
  open(policy(allow()));
  Fd socket;  // made inside: a socket stays in the namespace it was made in
  server_.async_accept(accepted_, [](const boost::system::error_code&) {});
  sockaddr_in to{};
  inside([&] {
    socket = stream();
    to = synthetic(port_);
    ASSERT_EQ(connect_error(socket, to), 0);
    ASSERT_EQ(::send(socket.get(), "\1\2\3", 3, 0), 3);
  });
  ASSERT_FALSE(HasFatalFailure());
  const auto patience = Clock::now() + std::chrono::seconds(30);
  while (events_.empty() && Clock::now() < patience) context_.run_one_for(std::chrono::seconds(1));
  ASSERT_FALSE(events_.empty());
  ASSERT_EQ(events_.back().kind, GateEvent::Kind::kConnected);

  ASSERT_TRUE(gate_->change(policy(R"({"allow": "elsewhere.example"})")));
  inside([&] {
    char byte;
    EXPECT_EQ(::recv(socket.get(), &byte, 1, 0), -1);
    EXPECT_EQ(errno, ECONNRESET);
    EXPECT_EQ(connect_error(stream(), to), ECONNREFUSED);
  });
}

// Its bytes pass unread, so the new rules could not be kept on it.
TEST_F(GateTest, AConnectionWhoseRequestsAreNotReadEndsWhenRulesAboutThemCome) {
  open(policy(allow()));
  Fd socket;
  server_.async_accept(accepted_, [](const boost::system::error_code&) {});
  inside([&] {
    socket = stream();
    ASSERT_EQ(connect_error(socket, synthetic(port_)), 0);
    ASSERT_EQ(::send(socket.get(), "\1\2\3", 3, 0), 3);
  });
  ASSERT_FALSE(HasFatalFailure());
  const auto patience = Clock::now() + std::chrono::seconds(30);
  while (events_.empty() && Clock::now() < patience) context_.run_one_for(std::chrono::seconds(1));
  ASSERT_FALSE(events_.empty());
  std::string rule = allow();
  rule.insert(rule.size() - 1, R"(, "methods": ["GET"])");
  ASSERT_TRUE(gate_->change(policy(rule)));
  inside([&] {
    char byte;
    EXPECT_EQ(::recv(socket.get(), &byte, 1, 0), -1);
    EXPECT_EQ(errno, ECONNRESET);
  });
}

TEST_F(GateTest, APolicyCanBeWidenedWhileItRuns) {
  open(policy(R"({"allow": "elsewhere.example"})"));
  inside([&] { EXPECT_EQ(connect_error(stream(), place("198.18.1.0", port_)), ECONNREFUSED); });
  ASSERT_TRUE(gate_->change(policy(allow())));
  inside([&] { EXPECT_EQ(connect_error(stream(), synthetic(port_)), 0); });
}

TEST_F(GateTest, TheCapOnBytesEndsTheFlow) {
  NetworkPolicy capped = policy(allow());
  capped.caps.bytes_sent = 10;
  open(capped);
  inside([&] {
    const Fd socket = stream();
    ASSERT_EQ(connect_error(socket, synthetic(port_)), 0);
    ASSERT_EQ(::send(socket.get(), "\1\2\3\4\5\6\7\10\11\12\13\14", 12, 0), 12);
    char byte;
    EXPECT_EQ(::recv(socket.get(), &byte, 1, 0), -1);
    EXPECT_EQ(errno, ECONNRESET);
  });
}

TEST_F(GateTest, MoreConnectionsThanTheCapAreReset) {
  NetworkPolicy capped = policy(allow());
  capped.caps.connections = 1;
  open(capped);
  inside([&] {
    const sockaddr_in to = synthetic(port_);
    const Fd first = stream(), second = stream();
    ASSERT_EQ(connect_error(first, to), 0);
    ASSERT_EQ(connect_error(second, to), 0);
    char byte;
    EXPECT_EQ(::recv(second.get(), &byte, 1, 0), -1);
    EXPECT_EQ(errno, ECONNRESET);
  });
}

TEST_F(GateTest, AListedAddressOfLoopbackIsTheHosts) {
  open(policy(""));
  asio::ip::tcp::socket accepted(context_);
  bool arrived = false;
  server_.async_accept(accepted, [&](const boost::system::error_code& error) { arrived = !error; });
  Fd socket;
  inside([&] {
    socket = stream();
    ASSERT_EQ(connect_error(socket, place("127.0.0.1", port_)), 0);
    ASSERT_EQ(::send(socket.get(), "\1\2\3", 3, 0), 3);
  });
  const auto patience = Clock::now() + std::chrono::seconds(30);
  while (!arrived && Clock::now() < patience) context_.run_one_for(std::chrono::seconds(1));
  EXPECT_TRUE(arrived) << (events_.empty() ? "nothing was told" : events_.back().decision.reason);
}

TEST_F(GateTest, WhatTheKernelRefusedIsToldAtTheEndWithTheReason) {
  open(policy(allow()));
  inside([&] {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(connect_error(stream(), place("10.1.2.3", 80)), ECONNREFUSED);
    sockaddr_in other_port = synthetic(port_);
    other_port.sin_port = htons(1);
    EXPECT_EQ(connect_error(stream(), other_port), ECONNREFUSED);
  });
  EXPECT_TRUE(events_.empty());
  gate_->stop();
  std::map<std::string, std::string> told;
  for (const GateEvent& event : events_) told[event.host + ":" + std::to_string(event.port)] = event.decision.reason;
  ASSERT_EQ(told.size(), 2u);
  EXPECT_NE(told["10.1.2.3:80"].find("private"), std::string::npos) << told["10.1.2.3:80"];
  EXPECT_EQ(told["localhost:1"], "no rule allows localhost on port 1");
}

TEST_F(GateTest, AScanOfManyPlacesIsNotedUpToABound) {
  open(policy(allow()));
  inside([&] {
    for (uint16_t port = 1; port <= 500; ++port) (void)connect_error(stream(), place("10.1.2.3", port));
  });
  gate_->stop();
  ASSERT_EQ(events_.size(), gate_rules::kMostRefused + 1);
  EXPECT_EQ(events_.back().host, "more places") << "what was not noted must not be left out silently";
}

TEST_F(GateTest, RefusedUdpIsToldToo) {
  open(policy(allow()));
  inside([&] {
    const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const sockaddr_in to = place("93.184.216.34", 443);
    EXPECT_EQ(::sendto(socket.get(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to), -1);
  });
  gate_->stop();
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(events_[0].host, "93.184.216.34");
  EXPECT_EQ(events_[0].port, 443);
  EXPECT_EQ(events_[0].decision.reason, "of UDP only DNS passes");
}

// A name is a message to whoever answers for it, whatever is asked about it.
TEST_F(GateTest, ADeniedQuestionOfAnyTypeIsTold) {
  open(policy(allow()));
  inside([&] {
    const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const sockaddr_in to = place("192.0.2.53", 53);
    const char txt[] = "\0\7\1\0\0\1\0\0\0\0\0\0\4leak\4evil\7example\0\0\20\0\1";
    (void)::sendto(socket.get(), txt, sizeof txt - 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    char answer[512];
    ASSERT_GT(::recv(socket.get(), answer, sizeof answer, 0), 4);
    EXPECT_EQ(answer[3] & 15, 3) << "no such name";
  });
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(events_[0].kind, GateEvent::Kind::kNameDenied);
  EXPECT_EQ(events_[0].host, "leak.evil.example");
}

// The listed address alone is allowed; its name may be asked with GET only.
TEST_F(GateTest, RulesAboutANamesRequestsHoldForItsBareAddress) {
  std::string rule = allow();
  rule.insert(rule.size() - 1, R"(, "methods": ["GET"])");
  open(policy(rule + R"(, {"deny": "localhost"})"));
  for (const std::string method : {"POST", "GET"}) {
    inside([&] {
      const Fd socket = stream();
      ASSERT_EQ(connect_error(socket, place("127.0.0.1", port_)), 0);
      const std::string request =
          method + " / HTTP/1.1\r\nHost: localhost:" + std::to_string(port_) + "\r\nContent-Length: 0\r\n\r\n";
      ASSERT_EQ(::send(socket.get(), request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
      char byte;
      EXPECT_EQ(::recv(socket.get(), &byte, 1, 0), -1);
      EXPECT_EQ(errno, ECONNRESET);
    });
    ASSERT_FALSE(events_.empty());
    EXPECT_EQ(events_.back().kind, GateEvent::Kind::kConnectionDenied);
    EXPECT_NE(events_.back().decision.reason.find("by its name"), std::string::npos) << events_.back().decision.reason;
  }
}

// An address and its name both have rules about requests: both must allow one.
TEST_F(GateTest, ANameInARequestToABareAddressOnlyTakesAway) {
  const std::string ports = R"(, "ports": [)" + std::to_string(port_) + R"(], "methods": [)";
  open(policy(R"({"allow": "localhost")" + ports + R"("POST", "PUT"]}, {"deny": "localhost"}, {"allow": "127.0.0.1")" +
              ports + R"("GET", "PUT"]}, {"deny": "127.0.0.1"})"));
  std::map<std::string, bool> passed;
  for (const std::string method : {"GET", "POST", "PUT"}) {
    events_.clear();
    Fd socket;
    inside([&] {
      socket = stream();
      ASSERT_EQ(connect_error(socket, place("127.0.0.1", port_)), 0);
      const std::string request =
          method + " / HTTP/1.1\r\nHost: localhost:" + std::to_string(port_) + "\r\nContent-Length: 0\r\n\r\n";
      ASSERT_EQ(::send(socket.get(), request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
    });
    const auto patience = Clock::now() + std::chrono::seconds(30);
    while (events_.empty() && Clock::now() < patience) context_.run_one_for(std::chrono::seconds(1));
    ASSERT_FALSE(events_.empty());
    passed[method] = events_[0].kind == GateEvent::Kind::kConnected;
  }
  EXPECT_EQ(passed, (std::map<std::string, bool>{{"GET", false}, {"POST", false}, {"PUT", true}}));
}

TEST_F(GateTest, AMessageWithoutALineEndPassesAfterAMoment) {
  open(policy(allow()));
  server_.async_accept(accepted_, [](const boost::system::error_code&) {});
  Fd socket;
  inside([&] {
    socket = stream();
    ASSERT_EQ(connect_error(socket, synthetic(port_)), 0);
    ASSERT_EQ(::send(socket.get(), "PING", 4, 0), 4);
  });
  char got[4];
  const auto patience = Clock::now() + std::chrono::seconds(8);  // less than a TLS hello gets
  bool arrived = false;
  while (!arrived && Clock::now() < patience) {
    context_.run_one_for(std::chrono::milliseconds(10));
    arrived = accepted_.is_open() && ::recv(accepted_.native_handle(), got, 4, MSG_PEEK | MSG_DONTWAIT) == 4;
  }
  EXPECT_TRUE(arrived);
}

TEST_F(GateTest, WhenItStopsTheBytesOfWhatIsStillOpenHaveBeenTold) {
  open(policy(allow()));
  server_.async_accept(accepted_, [](const boost::system::error_code&) {});
  Fd socket;
  inside([&] {
    socket = stream();
    ASSERT_EQ(connect_error(socket, synthetic(port_)), 0);
    ASSERT_EQ(::send(socket.get(), "\1\2\3", 3, 0), 3);
  });
  char got[3];
  const auto patience = Clock::now() + std::chrono::seconds(30);
  while (Clock::now() < patience) {
    context_.run_one_for(std::chrono::milliseconds(10));
    if (accepted_.is_open() && ::recv(accepted_.native_handle(), got, 3, MSG_PEEK | MSG_DONTWAIT) == 3) break;
  }
  gate_->stop();
  ASSERT_FALSE(events_.empty());
  EXPECT_EQ(events_.back().kind, GateEvent::Kind::kEnded);
  EXPECT_EQ(events_.back().bytes_sent, 3u);
  const size_t told = events_.size();
  context_.run_for(std::chrono::milliseconds(50));
  EXPECT_EQ(events_.size(), told);
}

}  // namespace
}  // namespace bj
