#include "server/http_server.h"

#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <optional>

namespace bj {
namespace {

using Tcp = asio::ip::tcp;

TEST(ServerAddressTest, OnlyLoopbackIsTaken) {
  EXPECT_EQ(parse_address("127.0.0.1:80")->port, 80);
  EXPECT_EQ(parse_address("localhost:8090")->host, "127.0.0.1");
  EXPECT_EQ(parse_address("[::1]:8090")->host, "::1");
  for (const char* text :
       {"0.0.0.0:80", "[::]:80", "10.0.0.1:80", "example.org:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "x"}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
}

TEST(ServerAddressTest, HostsThatNameThisMachine) {
  for (const char* host : {"localhost", "localhost:8090", "127.0.0.1:1", "[::1]", "[::1]:8090"})
    EXPECT_TRUE(names_this_machine(host)) << host;
  for (const char* host : {"", "evil.org", "localhost.evil.org", "localhost:", "localhost:80.evil.org",
                           "127.0.0.1.evil.org", "::1", "localhost:123456"}) {
    EXPECT_FALSE(names_this_machine(host)) << host;
  }
}

// Sends one request to a server of its own and returns what came back until the server closed.
std::string exchange(const std::string& request) {
  asio::io_context context(1);
  std::string answer;
  asio::co_spawn(
      context,
      [&]() -> Task<void> {
        const auto executor = context.get_executor();
        auto server = HttpServer::listen(executor, {.host = "127.0.0.1", .port = 0});
        if (!server) co_return;
        asio::co_spawn(executor, (*server)->serve({.version = "1.2", .seal_full = true}), asio::detached);
        Tcp::socket socket(executor);
        co_await socket.async_connect({asio::ip::address_v4::loopback(), (*server)->port()}, kNoThrow);
        (void)co_await asio::async_write(socket, asio::buffer(request), kNoThrow);
        (void)co_await asio::async_read(socket, asio::dynamic_buffer(answer), kNoThrow);
        co_await (*server)->stop();
      },
      asio::detached);
  context.run();
  return answer;
}

std::string get(const std::string& target, const std::string& host) {
  return exchange("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
}

TEST(HttpServerTest, HealthTellsVersionAndSeal) {
  const std::string answer = get("/health", "localhost");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
  EXPECT_NE(answer.find(R"({"status":"ok","version":"1.2","seal_full":true})"), std::string::npos) << answer;
}

TEST(HttpServerTest, TheRootIsForPeople) {
  EXPECT_NE(get("/", "127.0.0.1:8090").find("Belljar 1.2 is running"), std::string::npos);
}

TEST(HttpServerTest, OtherPathsAreNotThere) {
  const std::string answer = get("/x", "localhost");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 404")) << answer;
  EXPECT_NE(answer.find("{\"error\":"), std::string::npos);
}

TEST(HttpServerTest, AnotherHostIsRefused) {
  EXPECT_TRUE(get("/health", "evil.org").starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(exchange("GET /health HTTP/1.0\r\n\r\n").starts_with("HTTP/1.0 403") ||
              exchange("GET /health HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 403"));
}

TEST(HttpServerTest, GarbageAndGiantHeadersAreRefused) {
  EXPECT_TRUE(exchange("\x01\x02garbage\r\n\r\n").find("400") != std::string::npos);
  EXPECT_TRUE(exchange("GET / HTTP/1.1\r\nX: " + std::string(100'000, 'a') + "\r\n\r\n").find("431") !=
              std::string::npos);
}

TEST(HttpServerTest, APortThatIsTakenIsNamed) {
  asio::io_context context(1);
  const auto first = HttpServer::listen(context.get_executor(), {.host = "127.0.0.1", .port = 0});
  ASSERT_TRUE(first);
  const auto second = HttpServer::listen(context.get_executor(), {.host = "127.0.0.1", .port = (*first)->port()});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().what.find("is in use"), std::string::npos);
}

}  // namespace
}  // namespace bj
