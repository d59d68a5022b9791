// A condition variable for coroutines of one thread: who waits goes on at the next tell(), and looks for himself what
// has changed. A timer that waiters set anew would not do: setting it wakes all others, who set it anew.
#pragma once

#include <list>
#include <memory>

#include "base/async.h"

namespace bj {

class Change {
 public:
  explicit Change(const asio::any_io_executor& executor) : executor_(executor) {}
  ~Change() { tell(); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

  // Wakes all who wait now.
  void tell();
  Task<void> wait() { return wait_until(Clock::time_point::max()); }
  Task<void> wait_until(Clock::time_point latest);

 private:
  using Waiting = std::list<asio::steady_timer*>;

  asio::any_io_executor executor_;
  std::shared_ptr<Waiting> waiting_ = std::make_shared<Waiting>();  // also of each who waits: he may end last
};

}  // namespace bj
