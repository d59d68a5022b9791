#include "server/http_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <set>

#include "base/log.h"
#include "server/connection.h"
#include "server/tls.h"

namespace bj {
namespace {

constexpr auto kRestAfterFailedAccept = std::chrono::milliseconds(100);
constexpr auto kEndAgain = std::chrono::milliseconds(100);
constexpr std::string_view kFull =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: close\r\n"
    "Content-Length: 61\r\n\r\n{\"detail\": \"There are too many connections; try again later\"}";

// Deadlines are kept to about a quarter of the shortest.
Clock::duration tick_for(const ServerLimits& limits) {
  const auto shortest = std::min({limits.header_time, limits.idle_time, limits.body_time, limits.write_time});
  return std::clamp<Clock::duration>(shortest / 4, std::chrono::milliseconds(5), std::chrono::seconds(1));
}

// A few words to a client that can't be served, if its socket takes them at once.
void turn_away(Tcp::socket socket) {
  boost::system::error_code ignored;
  (void)socket.non_blocking(true, ignored);
  (void)socket.send(asio::buffer(kFull), 0, ignored);
}

}  // namespace

struct HttpServer::Impl {
  Impl(const asio::any_io_executor& its, ServerOptions its_options)
      : executor(its), options(std::move(its_options)), acceptor(its), rest(its), sweep(its), changed(its) {}

  asio::any_io_executor executor;
  ServerOptions options;
  std::unique_ptr<asio::ssl::context> tls;
  Tcp::acceptor acceptor;
  std::optional<Dispatcher> dispatcher;
  std::optional<MetricGauge> open_connections;
  std::set<Connection*> connections;
  asio::steady_timer rest;     // after a failed accept
  asio::steady_timer sweep;    // between looks at the deadlines
  asio::steady_timer changed;  // cancelled when a connection or the sweeper ends: a condition variable
  bool sweeping = false;
  bool stopping = false;

  Result<void> open();
  void begin(Tcp::socket socket);
  bool make_room();
  void count() { open_connections->set(static_cast<double>(connections.size())); }
  Task<void> look_at_deadlines();
  Task<void> wait_for_end(Clock::time_point until);
};

Result<void> HttpServer::Impl::open() {
  const ServerAddress& address = options.address;
  if (!address.is_loopback() && !options.tls && !options.allow_plain) {
    return fail(Code::kInvalid, "keys would cross the network in clear: give --tls-cert and --tls-key to listen on " +
                                    address.text() + ", or --allow-plain behind a proxy with TLS");
  }
  if (options.tls) {
    BJ_TRY(tls, make_tls_context(*options.tls));
  }
  const Tcp::endpoint endpoint(asio::ip::make_address(address.host), address.port);
  boost::system::error_code error;
  (void)acceptor.open(endpoint.protocol(), error);
  if (!error) (void)acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) (void)acceptor.bind(endpoint, error);
  if (!error) (void)acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error == boost::system::errc::address_in_use) {
    return fail(Code::kInvalid,
                fmt::format("port {} is in use: stop what listens there, or choose another with --listen {}:PORT",
                            address.port, address.host));
  }
  if (error) return fail(Code::kInvalid, fmt::format("can't listen on {}: {}", address.text(), error.message()));
  return {};
}

void HttpServer::Impl::begin(Tcp::socket socket) {
  auto connection = std::make_shared<Connection>(std::move(socket), tls.get(), options.limits, *dispatcher);
  connections.insert(connection.get());
  count();
  asio::co_spawn(executor, connection->run(),
                 asio::bind_cancellation_slot(connection->slot(), [this, connection](const std::exception_ptr&) {
                   connections.erase(connection.get());
                   count();
                   changed.cancel();
                 }));
  if (std::exchange(sweeping, true)) return;
  asio::co_spawn(executor, look_at_deadlines(), [this](const std::exception_ptr&) {
    sweeping = false;
    changed.cancel();
  });
}

// Whoever holds connections without using them must not keep others out. False: all are in use.
bool HttpServer::Impl::make_room() {
  Connection* first = nullptr;
  for (Connection* connection : connections) {
    if (connection->waiting() && (first == nullptr || *connection->waiting() < *first->waiting())) first = connection;
  }
  if (first != nullptr) first->end();
  return first != nullptr;
}

// Runs as long as there are connections: a server that nobody uses does not wake up.
Task<void> HttpServer::Impl::look_at_deadlines() {
  while (!connections.empty()) {
    sweep.expires_after(tick_for(options.limits));
    (void)co_await expired(sweep);
    const Clock::time_point now = Clock::now();
    for (Connection* connection : connections) connection->check_deadline(now);
  }
}

Task<void> HttpServer::Impl::wait_for_end(Clock::time_point until) {
  while ((!connections.empty() || sweeping) && Clock::now() < until) {
    if (connections.empty()) sweep.cancel();
    changed.expires_at(until);
    (void)co_await expired(changed);
  }
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::listen(const asio::any_io_executor& executor, ServerOptions options) {
  auto impl = std::make_unique<Impl>(executor, std::move(options));
  BJ_CHECK(impl->open());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

Task<void> HttpServer::serve(Service service) {
  Impl& it = *impl_;
  const bool local = it.options.address.is_loopback();
  it.open_connections = service.metrics.gauge("belljar_http_connections", "Open connections");
  it.dispatcher.emplace(std::move(service), it.options.site, it.options.rates,
                        local ? Dispatcher::Reach::kLoopback : Dispatcher::Reach::kNetwork);
  while (!it.stopping) {
    auto [error, socket] = co_await it.acceptor.async_accept(kNoThrow);
    if (error == asio::error::operation_aborted || it.stopping) co_return;
    if (error) {  // out of descriptors, most likely: it must not become a busy loop
      log_warning("accept_failed", {{"what", error.message()}});
      it.rest.expires_after(kRestAfterFailedAccept);
      (void)co_await expired(it.rest);
    } else if (it.connections.size() < it.options.limits.connections || it.make_room()) {
      it.begin(std::move(socket));
    } else {
      turn_away(std::move(socket));
    }
  }
}

Task<void> HttpServer::stop() {
  Impl& it = *impl_;
  it.stopping = true;
  boost::system::error_code ignored;
  (void)it.acceptor.close(ignored);
  it.rest.cancel();
  for (Connection* connection : it.connections) connection->begin_stop();
  co_await it.wait_for_end(Clock::now() + it.options.limits.stop_time);
  while (!it.connections.empty() || it.sweeping) {
    for (Connection* connection : it.connections) connection->end();
    it.sweep.cancel();
    co_await it.wait_for_end(Clock::now() + kEndAgain);
  }
}

uint16_t HttpServer::port() const { return impl_->acceptor.local_endpoint().port(); }

}  // namespace bj
