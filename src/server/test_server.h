// For tests: a real server on a loopback port, on a thread of its own, and a client that sends exactly the bytes it is
// told to.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/use_future.hpp>
#include <future>
#include <thread>

#include "base/fd.h"
#include "server/builtin_routes.h"
#include "server/http_server.h"

namespace bj {

class TestServer {
 public:
  explicit TestServer(const std::function<void(Router&)>& fill, ServerOptions options = {},
                      Authenticate authenticate = nullptr) {
    options.address.port = 0;
    add_builtin_routes(router_, metrics_, HealthFacts{"1.2", true});
    fill(router_);
    auto made = HttpServer::listen(context_.get_executor(), options);
    if (!made) throw std::runtime_error(made.error().what);
    server_ = std::move(*made);
    port_ = server_->port();
    asio::co_spawn(context_, server_->serve({router_, metrics_, std::move(authenticate)}), asio::detached);
    thread_ = std::thread([this] { context_.run(); });
  }
  ~TestServer() {
    if (!stopped_.valid()) begin_stop();
    stopped_.wait();
    thread_.join();
  }

  void begin_stop() { stopped_ = asio::co_spawn(context_, server_->stop(), asio::use_future); }
  void wait_for_stop() { stopped_.wait(); }
  uint16_t port() const { return port_; }
  asio::io_context& context() { return context_; }
  Metrics& metrics() { return metrics_; }

 private:
  asio::io_context context_{1};
  Router router_;
  Metrics metrics_;
  std::unique_ptr<HttpServer> server_;
  uint16_t port_ = 0;
  std::thread thread_;
  std::future<void> stopped_;
};

class TestClient {
 public:
  explicit TestClient(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{20, 0};  // a test that hangs should fail
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }

  int fd() const { return fd_.get(); }
  // What the server does not take any more is not an error of the test's.
  TestClient& send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t size = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (size <= 0) break;
      bytes.remove_prefix(static_cast<size_t>(size));
    }
    return *this;
  }
  // Everything until the server closes.
  std::string read_all() {
    while (more()) {
    }
    return std::exchange(input_, {});
  }
  // Up to and with `mark`; less if the server closes before.
  std::string read_until(std::string_view mark) {
    size_t at = input_.find(mark);
    while (at == std::string::npos && more()) at = input_.find(mark);
    return take(at == std::string::npos ? input_.size() : at + mark.size());
  }
  // One response with a Content-Length, header and body.
  std::string read_response() {
    const std::string header = read_until("\r\n\r\n");
    const size_t at = header.find("Content-Length: ");
    const size_t size = at == std::string::npos ? 0 : std::stoul(header.substr(at + 16));
    while (input_.size() < size && more()) {
    }
    return header + take(std::min(size, input_.size()));
  }
  void close() { fd_.reset(); }

 private:
  bool more() {
    char bytes[4096];
    const ssize_t size = ::recv(fd_.get(), bytes, sizeof bytes, 0);
    if (size > 0) input_.append(bytes, static_cast<size_t>(size));
    return size > 0;
  }
  std::string take(size_t count) {
    std::string taken = input_.substr(0, count);
    input_.erase(0, count);
    return taken;
  }

  Fd fd_;
  std::string input_;
};

inline std::string request_text(const std::string& method, const std::string& target, const std::string& headers = "",
                                const std::string& body = "") {
  return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n" + body;
}

inline std::string with_length(const std::string& body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n";
}

// One request on a connection of its own.
inline std::string fetch(const TestServer& server, const std::string& method, const std::string& target,
                         const std::string& headers = "", const std::string& body = "") {
  return TestClient(server.port())
      .send(request_text(method, target, headers + "Connection: close\r\n", body))
      .read_all();
}

inline unsigned status_in(const std::string& response) {
  return response.starts_with("HTTP/1.1 ") ? static_cast<unsigned>(std::stoul(response.substr(9, 3))) : 0;
}

}  // namespace bj
