// What an installer prints: told line by line while it runs, and its end kept for the error message.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/async.h"
#include "engine/calls/call.h"

namespace bj {

// One stream of a process.
class LineReader : public std::enable_shared_from_this<LineReader> {
 public:
  // `kept`: bytes of its end that finish() returns. `on_line` is called until then, with a last line that has no end,
  // too, and with the pieces of one that is too long to wait for its end.
  LineReader(const asio::any_io_executor& executor, Fd fd, std::function<void(std::string_view)> on_line, size_t kept)
      : stream_(executor, fd.release()), on_line_(std::move(on_line)), most_(kept) {}

  void start();
  // What is there now, then no more: whoever still holds the other end can't keep us.
  std::string finish();

 private:
  bool take();
  void tell_rest();

  asio::posix::stream_descriptor stream_;
  std::function<void(std::string_view)> on_line_;
  size_t most_;
  std::string kept_, line_;
};

// What of an installer's stderr a person needs: its last lines without notices and log files, bounded, printable.
std::string relevant_lines(Language language, const std::string& errors);

}  // namespace bj
