#include "egress/flow.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include "egress/destination.h"
#include "sys/bytes.h"

namespace bj {
namespace {

using asio::experimental::awaitable_operators::operator&&;  // NOLINT(misc-unused-using-decls): in run()

constexpr size_t kAtOnce = 128 * 1024;
constexpr int kMostWithoutWaiting = 8;  // reads of one flow, while others may have something to say, too

// Shared by all flows of a thread: nothing is in it across an await.
std::array<char, kAtOnce>& buffer() {
  static thread_local std::array<char, kAtOnce> bytes;
  return bytes;
}

}  // namespace

Flow::Flow(Socket client, FlowTotals& totals)
    : client_(std::move(client)),
      upstream_(client_.get_executor()),
      totals_(totals),
      timer_(client_.get_executor()),
      idle_(client_.get_executor()) {
  boost::system::error_code ignored;
  client_.non_blocking(true, ignored);
  client_.native_non_blocking(true, ignored);
}

void Flow::begin_step(Clock::time_point deadline, void (*give_up)(Flow&)) {
  timer_.expires_at(deadline);
  timer_.async_wait([self = shared_from_this(), step = ++step_, give_up](const boost::system::error_code& error) {
    if (!error && self->step_ == step) give_up(*self);
  });
}

void Flow::end_step() {
  ++step_;
  timer_.cancel();
}

Task<bool> Flow::peek(std::string& bytes, size_t most, Clock::time_point deadline,
                      std::function<bool(std::string_view)> enough) {
  const auto self = shared_from_this();
  begin_step(deadline, [](Flow& flow) {
    boost::system::error_code ignored;
    flow.client_.cancel(ignored);
  });
  bool found = false;
  for (int wanted = 1; !found && client_.is_open();) {
    // Readable only when there is more than last time.
    (void)::setsockopt(client_.native_handle(), SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof wanted);
    const auto [error] = co_await client_.async_wait(Socket::wait_read, kNoThrow);
    if (error) break;
    bytes.resize(most);
    const Moved seen = receive_some(client_.native_handle(), bytes.data(), most, MSG_PEEK);
    bytes.resize(seen.size);
    if (seen.not_now()) continue;
    if (static_cast<int>(seen.size) < wanted) break;  // an end: no more will come
    wanted = static_cast<int>(seen.size) + 1;
    found = enough(bytes) || bytes.size() == most;
  }
  end_step();
  const int one = 1;
  if (client_.is_open()) (void)::setsockopt(client_.native_handle(), SOL_SOCKET, SO_RCVLOWAT, &one, sizeof one);
  co_return found;
}

Task<Result<void>> Flow::connect(asio::ip::tcp::endpoint to, Buffers buffers) {
  const auto self = shared_from_this();
  begin_step(Clock::now() + kConnectPatience, [](Flow& flow) {
    boost::system::error_code ignored;
    flow.upstream_.close(ignored);
  });
  boost::system::error_code ignored;
  upstream_.open(to.protocol(), ignored);
  if (buffers == Buffers::kSmall) {
    upstream_.set_option(asio::socket_base::receive_buffer_size(kSmallBuffer), ignored);
    upstream_.set_option(asio::socket_base::send_buffer_size(kSmallBuffer), ignored);
  }
  const auto [error] = co_await upstream_.async_connect(to, kNoThrow);
  end_step();
  if (error == asio::error::operation_aborted) co_return fail(Code::kUnavailable, "no connection in time");
  if (error) co_return fail(Code::kUnavailable, "connect: " + error.message(), error.value());
  upstream_.native_non_blocking(true, ignored);
  upstream_.set_option(asio::ip::tcp::no_delay(true), ignored);
  client_.set_option(asio::ip::tcp::no_delay(true), ignored);
  co_return Result<void>();
}

Task<bool> Flow::tell_client(std::string text) {
  const auto self = shared_from_this();
  co_return co_await send_all(client_, text);
}

Task<bool> Flow::tell_server(std::string text) {
  const auto self = shared_from_this();
  co_return co_await send_all(upstream_, text);
}

Task<void> Flow::finish(std::string text) {
  const auto self = shared_from_this();
  (void)co_await send_all(client_, text);
  boost::system::error_code ignored;
  client_.shutdown(Socket::shutdown_send, ignored);
  begin_step(Clock::now() + kFinishPatience, [](Flow& flow) { flow.close(); });
  while (client_.is_open()) {
    const auto [error] = co_await client_.async_wait(Socket::wait_read, kNoThrow);
    if (error || !client_.is_open()) break;
    const Moved rest = receive_some(client_.native_handle(), buffer().data(), kAtOnce);
    if (rest.size == 0 && !rest.not_now()) break;
  }
  end_step();
  close();
}

Task<void> Flow::forward(Witness witness, uint64_t most_from_client) {
  const auto self = shared_from_this();
  watch();
  std::function<bool(std::string_view)> answered;
  if (witness.answered) {
    answered = [hear = std::move(witness.answered)](std::string_view bytes) {
      hear(bytes);
      return true;
    };
  }
  const auto checked = [](Flow& flow, std::function<Task<bool>()> check, Direction way) -> Task<void> {
    if (check && !co_await check()) co_return flow.abort();
    co_await flow.pump(way);
  };
  const Direction out{client_, upstream_, sent_, &FlowTotals::count_sent, std::move(witness.sent), most_from_client};
  const Direction in{upstream_, client_, received_, &FlowTotals::count_received, std::move(answered)};
  co_await (checked(*this, std::move(witness.check_first), out) && pump(in));
  close();
}

bool Flow::count(uint64_t sent, uint64_t received) {
  last_ = Clock::now();
  sent_ += sent;
  received_ += received;
  const bool within_sent = totals_.count_sent(sent), within_received = totals_.count_received(received);
  return within_sent && within_received;
}

Task<bool> Flow::paced(Socket& from) { co_return co_await totals_.room(from, kAtOnce) != 0; }

void Flow::watch() {
  spawn(client_.get_executor(), [self = shared_from_this()]() -> Task<void> { co_await self->watch_idle(); });
}

void Flow::close() {
  idle_.cancel();
  boost::system::error_code ignored;
  client_.close(ignored);
  upstream_.close(ignored);
}

void Flow::abort() {
  timer_.cancel();
  idle_.cancel();
  reset(client_);
  reset(upstream_);
}

Task<void> Flow::pump(Direction way) {
  int in_a_row = 0;  // reads that filled their room: there is more, and no need to ask the kernel whether
  for (uint64_t passed = 0; way.from.is_open();) {
    const auto left = static_cast<size_t>(std::min<uint64_t>(kAtOnce, way.most - passed));
    if (left == 0) co_return;  // the other side may still have something to say
    if (in_a_row == 0) {
      const auto [error] = co_await way.from.async_wait(Socket::wait_read, kNoThrow);
      if (error || !way.from.is_open()) co_return abort();
    }
    const size_t room = co_await totals_.room(way.from, left);
    if (room == 0 || !way.from.is_open()) co_return abort();
    const Moved read = receive_some(way.from.native_handle(), buffer().data(), room);
    in_a_row = read.size == room && in_a_row < kMostWithoutWaiting ? in_a_row + 1 : 0;
    if (read.not_now()) continue;
    if (!read.ok()) co_return abort();
    if (read.ended()) break;
    last_ = Clock::now();
    passed += read.size;
    way.own += read.size;
    if (!(totals_.*way.count)(read.size)) co_return abort();
    const std::string_view bytes(buffer().data(), read.size);
    if ((way.look && !way.look(bytes)) || !co_await send_all(way.to, bytes)) co_return abort();
  }
  boost::system::error_code ignored;
  way.to.shutdown(Socket::shutdown_send, ignored);
}

Task<bool> Flow::send_all(Socket& to, std::string_view bytes) {
  if (!to.is_open()) co_return false;
  Moved sent = send_some(to.native_handle(), bytes);
  if (sent.ok() && sent.size == bytes.size()) co_return true;
  if (!sent.ok() && !sent.not_now()) co_return false;
  const std::string rest(bytes.substr(sent.size));
  for (size_t done = 0; done < rest.size();) {
    const auto [error] = co_await to.async_wait(Socket::wait_write, kNoThrow);
    if (error || !to.is_open()) co_return false;
    sent = send_some(to.native_handle(), std::string_view(rest).substr(done));
    if (!sent.ok() && !sent.not_now()) co_return false;
    done += sent.size;
    last_ = Clock::now();
  }
  co_return true;
}

Task<void> Flow::watch_idle() {
  const auto self = shared_from_this();
  while (client_.is_open() && upstream_.is_open()) {
    idle_.expires_at(last_ + kIdle);
    if (!co_await expired(idle_)) co_return;
    if (Clock::now() >= last_ + kIdle) co_return abort();
  }
}

}  // namespace bj
