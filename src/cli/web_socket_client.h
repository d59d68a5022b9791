// The client's half of a WebSocket (RFC 6455) on a blocking socket: no extensions, no fragments of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

enum class FrameKind : uint8_t { kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };

struct SocketFrame {
  FrameKind kind = FrameKind::kBinary;
  bool last = true;
  std::string data;
};

// As it goes over the wire; a client masks what it sends.
std::string frame_text(FrameKind kind, std::string_view data, uint32_t mask);
// Takes the first whole frame off `bytes`; nothing: more must come. Longer than a server sends is kInvalid.
Result<std::optional<SocketFrame>> take_frame(std::string& bytes);

class WebSocketClient {
 public:
  // http:// only. A refusal is an error with the server's status line.
  static Result<WebSocketClient> connect(const std::string& url, const std::string& path, std::string_view key);

  int fd() const { return socket_.get(); }
  Result<void> send(FrameKind kind, std::string_view data);
  // Reads once from the socket; kUnavailable: it is closed.
  Result<void> fill();
  // The next message that has arrived. Pings are answered.
  Result<std::optional<SocketFrame>> next();

 private:
  explicit WebSocketClient(Fd socket) : socket_(std::move(socket)) {}
  Result<void> shake_hands(const std::string& host, const std::string& path, std::string_view key);

  Fd socket_;
  std::string arrived_;
};

}  // namespace bj
