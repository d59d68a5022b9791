// Copies a stream on a thread of its own, so that a terminal, pipe or file of the user's is never made non-blocking and
// a reader that does not read holds up nothing but itself.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/async.h"
#include "base/fd.h"

namespace bj {

// What happens to each piece on its way; empty: nothing.
using Filter = std::function<std::string(std::string_view)>;

// Ends at the end of `from`, when `to` is gone, or at stop(). Descriptors that are passed by number are not owned: they
// outlive the relay.
class Relay {
 public:
  // Called on the context's thread; the copying begins at once.
  Relay(const asio::any_io_executor& executor, int from, int to, Filter filter = {});
  // Closes `from` at its end: who writes there hears that nobody reads any more.
  Relay(const asio::any_io_executor& executor, Fd from, int to, Filter filter = {});
  ~Relay();  // stops and joins

  // Waits for the end. Once.
  Task<void> ended();
  void stop();

 private:
  void start(const asio::any_io_executor& executor, int from, int to, Filter filter);
  void copy(int from, int to, const Filter& filter) const;

  Fd stop_;  // an eventfd
  Fd owned_;
  std::shared_ptr<OneShot<int>> done_;
  std::thread thread_;
};

}  // namespace bj
