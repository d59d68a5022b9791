// A small HTTP server on loopback for tests of clients: answers each request with what a function makes of it.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <functional>
#include <string>
#include <vector>

#include "base/async.h"

namespace bj {

class HttpServerForTest {
 public:
  // The whole request (head and body) in, the whole response out; empty: never answers.
  using Answer = std::function<std::string(const std::string& request)>;

  HttpServerForTest(asio::io_context& io, Answer answer)
      : acceptor_(io, {asio::ip::make_address("127.0.0.1"), 0}), answer_(std::move(answer)) {
    asio::co_spawn(io, accept(), asio::detached);
  }
  std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()) + path;
  }
  void stop() {
    acceptor_.close();
    for (const auto& socket : sockets_) socket->close();
  }
  std::vector<std::string> requests;

  static std::string response(const std::string& status, const std::string& body, const std::string& headers = "") {
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" +
           body;
  }

 private:
  Task<void> accept() {
    while (true) {
      auto [error, socket] = co_await acceptor_.async_accept(kNoThrow);
      if (error) co_return;
      sockets_.push_back(std::make_shared<asio::ip::tcp::socket>(std::move(socket)));
      asio::co_spawn(acceptor_.get_executor(), serve(sockets_.back()), asio::detached);
    }
  }
  Task<void> serve(std::shared_ptr<asio::ip::tcp::socket> socket) {
    std::string buffer;
    while (true) {
      auto [error, head] = co_await asio::async_read_until(*socket, asio::dynamic_buffer(buffer), "\r\n\r\n", kNoThrow);
      if (error) co_return;
      const size_t size = head + content_length(buffer.substr(0, head));
      if (buffer.size() < size) {
        auto [short_error, more] = co_await asio::async_read(*socket, asio::dynamic_buffer(buffer),
                                                             asio::transfer_exactly(size - buffer.size()), kNoThrow);
        if (short_error) co_return;
      }
      requests.push_back(buffer.substr(0, size));
      buffer.erase(0, size);
      const std::string answer = answer_(requests.back());
      if (answer.empty()) continue;
      auto [write_error, written] = co_await asio::async_write(*socket, asio::buffer(answer), kNoThrow);
      if (write_error) co_return;
    }
  }
  static size_t content_length(const std::string& head) {
    size_t length = 0;
    const size_t at = head.find("Content-Length: ");
    if (at != head.npos) std::from_chars(head.data() + at + 16, head.data() + head.size(), length);
    return length;
  }

  asio::ip::tcp::acceptor acceptor_;
  Answer answer_;
  std::vector<std::shared_ptr<asio::ip::tcp::socket>> sockets_;
};

}  // namespace bj
