#include "api/preview/upstream.h"

#include "sys/bytes.h"

namespace bj::preview {
namespace {

constexpr int kTries = 4;
constexpr auto kBetweenTries = std::chrono::milliseconds(50);
constexpr auto kWriteTime = std::chrono::seconds(30);
constexpr auto kHandshakeTime = std::chrono::seconds(10);
constexpr size_t kPiece = 64 * 1024;

}  // namespace

Upstream::Upstream(const asio::any_io_executor& executor, Fd socket) : socket_(executor, socket.release()) {
  boost::system::error_code ignored;
  socket_.native_non_blocking(true, ignored);
}

Task<Result<std::shared_ptr<Upstream>>> Upstream::open(std::shared_ptr<LiveSandbox> sandbox, uint16_t port,
                                                       Speaks speaks) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  for (int left = kTries;;) {
    Result<Fd> socket = co_await sandbox->connect(port);
    if (socket) {
      std::shared_ptr<Upstream> upstream(new Upstream(executor, std::move(*socket)));
      if (speaks == Speaks::kTls) BJ_CO_CHECK(co_await upstream->begin_tls());
      co_return upstream;
    }
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
  co_return (ready && socket_.is_open());
}

Task<Result<void>> Upstream::begin_tls() {
  BJ_CO_TRY(tls_, TlsClient::create());
  for (;;) {
    BJ_CO_TRY(const bool done, tls_->shake_hands());
    const std::string ours = tls_->outgoing();
    if (!co_await send(ours)) co_return fail(Code::kUnavailable, "The port closed the connection");
    if (done) co_return Result<void>();
    const std::string theirs = co_await receive(kHandshakeTime);
    if (theirs.empty()) co_return fail(Code::kUnavailable, "The port does not speak TLS");
    tls_->feed(theirs);
  }
}

Task<bool> Upstream::write(std::string_view bytes) {
  if (!tls_) co_return co_await send(bytes);
  if (!tls_->put(bytes)) co_return false;
  const std::string sealed = tls_->outgoing();
  co_return co_await send(sealed);
}

Task<std::string> Upstream::read(Clock::duration patience) {
  if (!tls_) co_return co_await receive(patience);
  for (;;) {
    if (std::optional<std::string> plain = tls_->take()) co_return std::move(*plain);
    const std::string sealed = co_await receive(patience);
    if (sealed.empty()) co_return std::string();
    tls_->feed(sealed);
  }
}

Task<bool> Upstream::send(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!socket_.is_open()) co_return false;
    const Moved sent = send_some(socket_.native_handle(), bytes);
    bytes.remove_prefix(sent.size);
    if (sent.not_now()) {
      if (!co_await wait(false, kWriteTime)) co_return false;
    } else if (!sent.ok()) {
      co_return false;
    }
  }
  co_return true;
}

Task<std::string> Upstream::receive(Clock::duration patience) {
  std::string bytes(kPiece, '\0');
  while (co_await wait(true, patience)) {
    const Moved received = receive_some(socket_.native_handle(), bytes.data(), bytes.size());
    if (received.not_now()) continue;
    bytes.resize(received.size);
    co_return bytes;
  }
  co_return std::string();
}

void Upstream::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace bj::preview
