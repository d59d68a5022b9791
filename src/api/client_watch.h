// Tells a stream that is silent that its client has left: nothing else would before its next word.
#pragma once

#include <functional>
#include <memory>

#include "base/async.h"

namespace bj {

// Looks every second whether the client is gone, and calls `leave` then, as long as this lives.
class ClientWatch {
 public:
  ClientWatch(const asio::any_io_executor& executor, std::function<bool()> gone, std::function<void()> leave);
  ~ClientWatch();
  ClientWatch(const ClientWatch&) = delete;
  ClientWatch& operator=(const ClientWatch&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace bj
