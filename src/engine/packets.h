// One end of a SOCK_SEQPACKET socket on an io_context: sends at once, delivers what arrives to a handler.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/change.h"

namespace bj {

// Stays on its executor's thread. The reading loop keeps the object alive until close() or the peer's end, so a
// handler that refers to something shorter-lived must be cleared by close() first.
class PacketSocket : public std::enable_shared_from_this<PacketSocket> {
 public:
  using Handler = std::function<void(std::string_view bytes, std::vector<Fd> descriptors)>;
  using Closed = std::function<void()>;

  PacketSocket(const asio::any_io_executor& executor, Fd socket, size_t max_packet);

  void start(Handler on_packet, Closed on_closed);
  // From now on a packet leaves the queue when its handler has returned: should this process die before, whoever holds
  // the socket then gets it again.
  void take_after_handling() { takes_after_ = true; }
  // Never waits: a peer that doesn't read makes it fail.
  Result<void> send(std::string_view bytes, const std::vector<int>& descriptors = {});
  // Waits until the peer has room: many may ask at once. The descriptors stay open until then.
  Task<Result<void>> deliver(std::string bytes, std::vector<int> descriptors);
  // Sends at once, too, unless the peer does not keep up: then what is posted is sent in its order when it does.
  void post(std::string bytes, std::vector<Fd> descriptors);
  // Until all that was posted is with the peer, or the peer is gone.
  Task<void> all_sent();
  void close();
  int native_handle() { return descriptor_.native_handle(); }

 private:
  struct Posted {
    std::string bytes;
    std::vector<Fd> descriptors;
  };

  Task<void> read_loop();
  bool read_available();
  Task<void> send_posted();
  Result<void> send(const Posted& posted);

  asio::posix::stream_descriptor descriptor_;
  std::vector<char> buffer_;
  Handler on_packet_;
  Closed on_closed_;
  std::deque<Posted> posted_;
  Change sent_;  // told when nothing is left
  bool takes_after_ = false;
};

}  // namespace bj
