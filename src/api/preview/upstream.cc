#include "api/preview/upstream.h"

#include <sys/socket.h>

namespace bj::preview {
namespace {

constexpr int kTries = 4;
constexpr auto kBetweenTries = std::chrono::milliseconds(50);
constexpr auto kWriteTime = std::chrono::seconds(30);
constexpr size_t kPiece = 64 * 1024;

}  // namespace

Upstream::Upstream(const asio::any_io_executor& executor, Fd socket) : socket_(executor, socket.release()) {
  boost::system::error_code ignored;
  socket_.native_non_blocking(true, ignored);
}

Task<Result<std::shared_ptr<Upstream>>> Upstream::open(std::shared_ptr<LiveSandbox> sandbox, uint16_t port) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  for (int left = kTries;;) {
    Result<Fd> socket = co_await sandbox->connect(port);
    if (socket) co_return std::shared_ptr<Upstream>(new Upstream(executor, std::move(*socket)));
    if (--left == 0 || socket.error().sys != ECONNREFUSED) co_return tl::unexpected(socket.error());
    asio::steady_timer timer(executor, kBetweenTries);
    (void)co_await expired(timer);
  }
}

// A timer that goes off as the wait ends must not end the next one: `over` tells it.
Task<bool> Upstream::wait(bool to_read, Clock::duration patience) {
  if (!socket_.is_open()) co_return false;
  asio::steady_timer timer(socket_.get_executor(), patience);
  const auto over = std::make_shared<bool>(false);
  timer.async_wait([this, over](const boost::system::error_code& error) {
    if (!error && !*over && socket_.is_open()) socket_.cancel();
  });
  const bool ready = to_read ? co_await readable(socket_) : co_await writable(socket_);
  *over = true;
  co_return ready&& socket_.is_open();
}

Task<bool> Upstream::write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!socket_.is_open()) co_return false;
    const ssize_t n = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {
      if (!co_await wait(false, kWriteTime)) co_return false;
    } else if (errno != EINTR) {
      co_return false;
    }
  }
  co_return true;
}

Task<std::string> Upstream::read(Clock::duration patience) {
  std::string bytes(kPiece, '\0');
  while (co_await wait(true, patience)) {
    const ssize_t n = ::recv(socket_.native_handle(), bytes.data(), bytes.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    bytes.resize(n > 0 ? static_cast<size_t>(n) : 0);
    co_return bytes;
  }
  co_return std::string();
}

void Upstream::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace bj::preview
