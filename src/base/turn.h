// A mutex for coroutines of one thread, or a room for a few of them at once: those who wait get their turn in the order
// they asked.
#pragma once

#include <utility>

#include "base/async.h"

namespace bj {

class Turn {
 public:
  explicit Turn(const asio::any_io_executor& executor, size_t at_once = 1) : place_(executor, at_once) {}

  // False if the wait was cancelled: then it is not this one's turn, and leave() is not due.
  Task<bool> enter() {
    const auto [error] = co_await place_.async_send(boost::system::error_code(), kNoThrow);
    co_return !error;
  }
  void leave() {
    place_.try_receive([](const boost::system::error_code&) {});
  }

 private:
  asio::experimental::channel<void(boost::system::error_code)> place_;
};

// A turn that was entered, and that somebody else may have to leave: whoever has this last.
class HeldTurn {
 public:
  HeldTurn() = default;
  explicit HeldTurn(Turn& entered) : turn_(&entered) {}
  HeldTurn(HeldTurn&& other) noexcept : turn_(std::exchange(other.turn_, nullptr)) {}
  HeldTurn& operator=(HeldTurn&& other) noexcept {
    std::swap(turn_, other.turn_);
    return *this;
  }
  ~HeldTurn() { leave(); }
  void leave() {
    if (Turn* const turn = std::exchange(turn_, nullptr)) turn->leave();
  }

 private:
  Turn* turn_ = nullptr;
};

}  // namespace bj
