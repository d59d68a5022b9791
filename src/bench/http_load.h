// Clients of an HTTP server, on a thread of their own: nothing of the server's thread is in what they measure but its
// answers. Connections are kept alive; every answer is checked.
#pragma once

#include <string>
#include <vector>

#include "base/async.h"
#include "bench/measure.h"

namespace bj {

// One request as it goes over the wire, to a port of this machine.
struct HttpCall {
  uint16_t port = 0;
  std::string request;
  std::string expected;  // a part of every right answer's body
};

class HttpLoad {
 public:
  // The calls in turn, `count` times each, some ms apart, on one connection each; a sample a call.
  Task<Result<std::vector<Sample>>> paced(std::vector<HttpCall> calls, int count);
  // Calls per second of that many clients, each with a connection of its own.
  Task<Result<double>> sustained(HttpCall call, int clients, double seconds);
  // The same driver's other work.
  Task<Result<double>> sustained(BenchWork work, int clients, double seconds);

  asio::any_io_executor executor() { return thread_.get_executor(); }

 private:
  asio::thread_pool thread_{1};
};

}  // namespace bj
