// A minimal HTTP/1.1 server: GET /health for machines, GET / for people. It answers only requests that name this
// machine (Host), because a browser's page can make any name point here. Headers are bounded in size and time,
// connections in number.
//
// All of it stays on the executor's thread. Only http_server.cc includes Beast, which is slow to compile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/async.h"

namespace bj {

struct ServerAddress {
  std::string host = "127.0.0.1";  // an IP address of the loopback
  uint16_t port = 8090;
};

// "127.0.0.1:8090", "[::1]:8090", "localhost:8090". Anything but loopback is refused: there is no authentication yet.
Result<ServerAddress> parse_address(const std::string& text);

// True for localhost, 127.0.0.1 and [::1], with or without a port.
bool names_this_machine(const std::string& host);

struct HealthFacts {
  std::string version;
  bool seal_full = false;
};

class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> listen(const asio::any_io_executor& executor,
                                                    const ServerAddress& address);
  ~HttpServer();

  // Accepts until it is cancelled or stop() is called. Who connects earlier waits for it.
  Task<void> serve(HealthFacts facts);
  // Closes the listener, ends connections and waits for them.
  Task<void> stop();
  uint16_t port() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bj
