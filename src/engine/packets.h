// One end of a SOCK_SEQPACKET socket on an io_context: sends at once, delivers what arrives to a handler.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/async.h"

namespace bj {

// Stays on its executor's thread. The reading loop keeps the object alive until close() or the peer's end, so a
// handler that refers to something shorter-lived must be cleared by close() first.
class PacketSocket : public std::enable_shared_from_this<PacketSocket> {
 public:
  using Handler = std::function<void(std::string_view bytes, std::vector<Fd> descriptors)>;
  using Closed = std::function<void()>;

  PacketSocket(const asio::any_io_executor& executor, Fd socket, size_t max_packet);

  void start(Handler on_packet, Closed on_closed);
  // Never waits: a peer that doesn't read makes it fail.
  Result<void> send(std::string_view bytes, const std::vector<int>& descriptors = {});
  void close();

 private:
  Task<void> read_loop();
  bool read_available();

  asio::posix::stream_descriptor descriptor_;
  std::vector<char> buffer_;
  Handler on_packet_;
  Closed on_closed_;
};

}  // namespace bj
