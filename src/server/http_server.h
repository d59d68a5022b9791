// The HTTP/1.1 server: keep-alive, pipelining, streams both ways, WebSockets, TLS. It answers only requests that name
// it (address.h), bounds everything a client can send or keep open, and stops gracefully.
//
//   auto server = HttpServer::listen(executor, options);        // the port is ours
//   add_builtin_routes(router, metrics, facts);                 // builtin_routes.h
//   co_await (*server)->serve({router, metrics, authenticate});  // until stop() or cancelled
//   co_await (*server)->stop();
//
// All of it, handlers included, runs on the executor's one thread: a handler that blocks blocks everyone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/async.h"
#include "server/address.h"
#include "server/metrics.h"
#include "server/rate_limits.h"
#include "server/router.h"
#include "server/traffic.h"

namespace bj {

struct TlsFiles {
  std::string certificate;  // PEM, the chain with the server's own first
  std::string key;          // PEM
};

// Says that keys and secrets may cross a network in clear: for a listener behind a proxy that does TLS.
struct AllowPlain {};

struct ServerLimits {
  uint32_t header_bytes = 32 * 1024;
  uint32_t header_fields = 100;
  uint32_t connections = 4096;  // each watch, terminal and command that somebody follows holds one
  uint64_t web_socket_message_bytes = 16 << 20;
  std::chrono::milliseconds header_time{10'000};  // from a request's first byte to the end of its header, TLS likewise
  std::chrono::milliseconds idle_time{75'000};    // between requests
  std::chrono::milliseconds body_time{30'000};    // for each further piece of a body
  std::chrono::milliseconds write_time{30'000};   // for each piece of a response to be taken
  std::chrono::milliseconds heartbeat{15'000};    // of event streams and WebSockets
  std::chrono::milliseconds stop_time{10'000};    // for requests in flight when the server stops
};

struct ServerOptions {
  ServerAddress address;
  std::optional<TlsFiles> tls;
  std::optional<AllowPlain> allow_plain;  // without TLS, only loopback is listened on unless this is set
  SitePolicy site;
  ServerLimits limits;
  RateLimits rates;
};

// Finds out who asks, by the request's headers. A failure of kDenied is answered by 401, others by their code's status.
using Authenticate = std::function<Task<Result<Actor>>(const HttpRequest&)>;

// Answers what is for a port of a sandbox instead of for us (traffic.h). Its body is a stream.
using TrafficHandler = std::function<Task<HttpResponse>(HttpRequest&, const Traffic&)>;

// What is served. The referenced must outlive the server. Without `authenticate`, only public routes are answered.
struct Service {
  const Router& router;
  Metrics& metrics;
  Authenticate authenticate;
  TrafficHandler traffic{};
  std::set<uint16_t> own_ports{};  // of every sandbox: no program inside answers there, but `traffic` itself
};

class HttpServer {
 public:
  // Who connects waits until serve(). A failure leaves no port taken.
  static Result<std::unique_ptr<HttpServer>> listen(const asio::any_io_executor& executor, ServerOptions options);
  // Call stop() first if serve() was called.
  ~HttpServer();

  // Accepts until it is cancelled or stop() is called.
  Task<void> serve(Service service);
  // Closes the listener and idle connections at once, lets requests in flight finish until stop_time, ends the rest.
  Task<void> stop();
  uint16_t port() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bj
