// The live process of a context as the engine holds it: its channel, its two output streams, its pid inside. Between
// executions whatever it prints is thrown away, so that nothing it left running is held up.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/change.h"
#include "engine/interpreters/context_messages.h"

namespace bj {

// Our ends, and the pid inside if the warden told it.
struct ContextEnds {
  Fd channel, output, error;
  Fd input;  // of bash: where its lines go
  int pid = 0;
};

// What the process is given. `theirs`: channel, output, error.
struct ContextPipes {
  ContextEnds ours;
  Fd channel, output, error;
  static Result<ContextPipes> make();
};

// Stays on its executor's thread.
class ContextProcess : public std::enable_shared_from_this<ContextProcess> {
 public:
  static std::shared_ptr<ContextProcess> adopt(const asio::any_io_executor& executor, ContextEnds ends);

  int pid() const { return pid_; }
  void set_pid(int pid) { pid_ = pid; }
  // Our ends: channel, output, error and, of bash, its input.
  std::vector<int> descriptors();
  // It has hung up, or broken the protocol.
  bool over() const { return over_; }

  enum class Reading { kOff, kOn };
  // On: what comes is kept for take(). Off: it is thrown away.
  void set_reading(Reading reading);

  // What has come, one piece at a time; nothing if there is nothing now. Output before messages: what was printed
  // before a message was sent is given before it.
  struct Piece {
    enum class Kind : uint8_t { kOutput, kErrorOutput, kMessage } kind;
    std::string bytes;       // of output
    ContextMessage message;  // kMessage
  };
  std::optional<Piece> take();
  // Until something happens, wake() is called, or it is that late.
  Task<void> change(Clock::time_point latest);
  // Lets others have the thread if this process has kept it busy for long: what it sends need not end.
  Task<void> give_way();
  void wake() { changed_.tell(); }

  // The next message within the time, of that nonce unless it is empty; for what is said before and between
  // executions. Output and other messages are thrown away.
  Task<Result<ContextMessage>> message_within(std::chrono::milliseconds patience, std::string nonce = "");
  // Queues bytes; they go as the process takes them.
  void write(const std::string& bytes);
  // A message with descriptors beside it. kUnavailable: it does not read.
  Result<void> send(const std::string& frame, const std::vector<int>& descriptors);
  void close();

 private:
  using Stream = asio::posix::stream_descriptor;
  struct Source {
    explicit Source(const asio::any_io_executor& executor, Fd fd) : stream(executor, fd.release()) {}
    Stream stream;
    bool waiting = false, readable = false, ended = false;
  };

  ContextProcess(const asio::any_io_executor& executor, ContextEnds ends);
  void watch(Source& source);
  void on_readable(Source& source);
  std::optional<std::string> read_piece(Source& source);
  std::optional<Piece> take_output();
  void read_messages();
  void flush();

  Change changed_;
  Source channel_, output_, error_;
  std::unique_ptr<Stream> input_;
  int pid_;
  bool over_ = false, reading_ = true, writing_ = false;
  ContextFrames frames_;
  std::string unsent_;
  size_t sent_ = 0;               // of unsent_
  Clock::time_point busy_since_;  // when the thread was last left to others
  size_t owed_ = 0;               // reads of output that may come before the next message, or after the end
};

}  // namespace bj
