// A mutex for coroutines of one thread: those who wait get their turn in the order they asked.
#pragma once

#include "base/async.h"

namespace bj {

class Turn {
 public:
  explicit Turn(const asio::any_io_executor& executor) : place_(executor, 1) {}

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

}  // namespace bj
