// One connection through the gate: from what a program in the sandbox said to the address that was decided on. Bytes go
// both ways with bounded buffers; either side may end its half first; a flow nobody uses ends by itself.
//
// Stays on its executor's thread.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/async.h"
#include "egress/flow_totals.h"

namespace bj {

class Flow : public std::enable_shared_from_this<Flow> {
 public:
  using Socket = asio::ip::tcp::socket;
  Flow(Socket client, FlowTotals& totals);

  Socket& client() { return client_; }
  Socket& upstream() { return upstream_; }

  // Peeks at what the client sends first until `enough` says so, the buffer is full or the time is over. What was
  // peeked stays to be read. False: the client is gone or silent.
  Task<bool> peek(std::string& bytes, size_t most, Clock::time_point deadline,
                  std::function<bool(std::string_view)> enough);
  // How much the kernel may hold of what a side does not read: as much as the way's length asks for, or little.
  enum class Buffers { kGrow, kSmall };
  Task<Result<void>> connect(asio::ip::tcp::endpoint to, Buffers buffers);

  // Bytes of our own to one of the sides. False: it is gone.
  Task<bool> tell_client(std::string text);
  Task<bool> tell_server(std::string text);

  // Who looks at what is passed on. Each may be empty.
  struct Witness {
    std::function<Task<bool>()> check_first;     // before any byte of the client's is passed on; false ends the flow
    std::function<bool(std::string_view)> sent;  // each piece of the client's, before it is passed on; false: the same
    std::function<void(std::string_view)> answered;  // each piece of the server's
  };
  // To the client, and then the end. Reads on a while: what it still sends would become a reset that overtakes the
  // text.
  Task<void> finish(std::string text);
  // Until both directions have ended. Of the client's bytes only so many are passed on.
  Task<void> forward(Witness witness, uint64_t most_from_client = UINT64_MAX);
  // For who passes bytes himself: counts them. False: a cap is reached. A flow that counts nothing for long ends.
  bool count(uint64_t sent, uint64_t received);
  // Waits while their rate is capped. False: closed meanwhile.
  Task<bool> paced(Socket& from);
  void watch();
  // Both sides see a reset, now.
  void abort();
  // An ordinary end: what was told still arrives.
  void close();

  uint64_t sent() const { return sent_; }
  uint64_t received() const { return received_; }

 private:
  struct Direction {
    Socket& from;
    Socket& to;
    uint64_t& own;  // bytes of this flow
    bool (FlowTotals::*count)(uint64_t);
    std::function<bool(std::string_view)> look;  // false: it is not passed on
    uint64_t most = UINT64_MAX;
  };
  Task<void> pump(Direction way);
  Task<bool> send_all(Socket& to, std::string_view bytes);
  Task<void> watch_idle();
  // A step that takes too long is given up. A timer that went off just before its step ended does not end the next.
  void begin_step(Clock::time_point deadline, void (*give_up)(Flow&));
  void end_step();

  static constexpr auto kIdle = std::chrono::minutes(5);
  static constexpr auto kFinishPatience = std::chrono::seconds(2);
  static constexpr auto kConnectPatience = std::chrono::seconds(15);
  static constexpr int kSmallBuffer = 256 * 1024;

  Socket client_, upstream_;
  FlowTotals& totals_;
  asio::steady_timer timer_;  // of one step at a time
  uint64_t step_ = 0;
  asio::steady_timer idle_;
  Clock::time_point last_ = Clock::now();
  uint64_t sent_ = 0, received_ = 0;
};

}  // namespace bj
