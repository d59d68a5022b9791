// A connection whose header was answered and which is plain bytes from then on, both ways: somebody else's WebSocket,
// passed through. One coroutine may read while another writes.
#pragma once

#include <string>

#include "base/async.h"

namespace bj {

class Tunnel {
 public:
  virtual ~Tunnel() = default;
  // What came; empty: the client has closed, or is gone.
  virtual Task<std::string> read() = 0;
  // False when the client is gone.
  virtual Task<bool> write(std::string bytes) = 0;
  // Whoever reads or writes goes on, with nothing.
  virtual void close() = 0;
};

}  // namespace bj
