// One WebSocket, after its handshake. One coroutine may read while others write. Pings of the client are answered, and
// idle clients pinged, as long as someone reads.
#pragma once

#include <cstdint>
#include <string>

#include "base/async.h"

namespace bj {

struct WebSocketMessage {
  enum class Kind { kText, kBinary };
  Kind kind = Kind::kText;
  std::string data;  // valid UTF-8 if it is text
};

class WebSocket {
 public:
  virtual ~WebSocket() = default;
  // The next message. kUnavailable: closed, by either side; kExhausted: longer than the limit, and now closed.
  virtual Task<Result<WebSocketMessage>> read() = 0;
  // False when the client is gone.
  virtual Task<bool> write(WebSocketMessage message) = 0;
  virtual Task<bool> ping() = 0;
  // Says why and closes; what was written before is sent. 1000: done, 1008: refused by policy, 1011: failed.
  virtual Task<void> close(uint16_t code, std::string reason) = 0;
};

}  // namespace bj
