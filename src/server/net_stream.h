// A client's connection, plain or TLS, under one type: one branch a call is all that plain HTTP pays for TLS.
// Internal to the server.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <optional>

#include "base/async.h"

namespace bj {

using Tcp = asio::ip::tcp;

class NetStream {
 public:
  using executor_type = Tcp::socket::executor_type;

  // `tls` is null for a plain connection.
  NetStream(Tcp::socket socket, asio::ssl::context* tls) : socket_(std::move(socket)) {
    if (tls != nullptr) tls_.emplace(socket_, *tls);
  }

  executor_type get_executor() { return socket_.get_executor(); }
  Tcp::socket& socket() { return socket_; }
  asio::ssl::stream<Tcp::socket&>* tls() { return tls_ ? &*tls_ : nullptr; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(boost::system::error_code, size_t)>(
        [this](auto handler, const Buffers& into) {
          if (tls_)
            tls_->async_read_some(into, std::move(handler));
          else
            socket_.async_read_some(into, std::move(handler));
        },
        token, buffers);
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(boost::system::error_code, size_t)>(
        [this](auto handler, const Buffers& from) {
          if (tls_)
            tls_->async_write_some(from, std::move(handler));
          else
            socket_.async_write_some(from, std::move(handler));
        },
        token, buffers);
  }

  // Waits fail with operation_aborted; the connection stays open.
  void cancel() {
    boost::system::error_code ignored;
    (void)socket_.cancel(ignored);
  }
  void close() {
    boost::system::error_code ignored;
    (void)socket_.close(ignored);
  }

 private:
  Tcp::socket socket_;
  std::optional<asio::ssl::stream<Tcp::socket&>> tls_;
};

}  // namespace bj
