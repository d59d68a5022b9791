// A process in a sandbox that people come to and leave: its output goes to a bounded buffer, and any number of
// listeners read it from where they like. A listener who is slower than the process holds it up, as a pipe would; with
// nobody listening the oldest output is dropped. It goes on without anybody, and its end is kept for those who ask
// later. Children that it leaves behind may still write what they were told to, and stay; what they write later is
// thrown away. All that is known of it is in its record, so that another server can go on with it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/change.h"
#include "engine/process_record.h"
#include "engine/sandbox.h"

namespace bj {

enum class Input { kNone, kOpen };

struct LiveProcessOptions {
  size_t kept_bytes = 1 << 20;  // of its output, for late comers
  Input input = Input::kNone;
  std::string tag;     // the caller's name for it
  std::string origin;  // who wanted it, in the caller's own words
};

// Stays on its executor's thread.
class LiveProcess : public std::enable_shared_from_this<LiveProcess> {
 public:
  class Listener;

  // Takes a process that was just started; `spec` is what it was started as.
  static std::shared_ptr<LiveProcess> adopt(const asio::any_io_executor& executor, Process process, ProcessSpec spec,
                                            LiveProcessOptions options, std::shared_ptr<ProcessRecord> record);
  // One that another server has started, however far it has come.
  static std::shared_ptr<LiveProcess> go_on(const asio::any_io_executor& executor, Process process, ProcessNote note,
                                            std::shared_ptr<ProcessRecord> record);

  int pid() const { return pid_; }
  const std::string& tag() const { return options_.tag; }
  const ProcessSpec& spec() const { return spec_; }
  Clock::time_point started() const { return started_; }
  const std::string& origin() const { return options_.origin; }
  const OutputBuffer& output() const { return record_->output(); }
  bool over() const { return over_; }
  // Of one that is over; nothing if the sandbox ended with it.
  const std::optional<ExitReport>& exit() const { return exit_; }
  // Why we ended it, if we did: "timeout".
  const std::string& stopped_by() const { return stopped_by_; }
  void note_stop(const std::string& why);
  // When it will be ended, if it is to be: whoever goes on with it must know.
  void note_deadline(Clock::time_point when);
  std::optional<Clock::time_point> deadline() const;
  // Its end was told to whoever keeps receipts; once.
  bool was_told() const { return record_->facts().told != 0; }
  void note_told() { record_->facts().told = 1; }
  // Nobody will ask for it any more.
  void forget() { record_->forget(); }
  Clock::duration duration() const { return (over_ ? ended_ : Clock::now()) - started_; }

  // Waits until the process has taken all of it. kConflict: it has no input, or that is closed.
  Task<Result<void>> write_input(std::string bytes);
  Result<void> close_input();
  // kConflict: it has no terminal.
  Result<void> resize(uint16_t rows, uint16_t columns);

  Task<void> ended();
  // Whether it is over by then.
  Task<bool> ended_by(Clock::time_point latest);

 private:
  struct Source;
  using Taken = OutputBuffer::Taken;

  LiveProcess(const asio::any_io_executor& executor, Process process, ProcessSpec spec, LiveProcessOptions options,
              std::shared_ptr<ProcessRecord> record);
  void start();
  Task<void> pump(std::shared_ptr<Source> source);
  Task<void> watch_exit();
  Taken take(Source& source);  // one read
  void take_the_rest();
  void leave_streams();
  uint64_t needed() const;  // the place of the slowest listener
  bool held_up() const { return !listeners_.empty() && record_->output().is_full(needed()); }
  Task<bool> change(Clock::time_point latest = Clock::time_point::max());  // waits for anything to happen
  void notify() { changed_.tell(); }

  asio::any_io_executor executor_;
  int pid_;
  ProcessSpec spec_;
  LiveProcessOptions options_;
  ExitWaiter waiter_;
  std::shared_ptr<ProcessRecord> record_;
  std::vector<std::shared_ptr<Source>> sources_;
  std::shared_ptr<asio::posix::stream_descriptor> input_;  // with a terminal: the same descriptor, duplicated
  bool writing_ = false;
  std::set<const Listener*> listeners_;
  Change changed_;
  Clock::time_point started_, ended_;
  std::optional<ExitReport> exit_;
  std::string stopped_by_;
  bool over_ = false;
};

// Somebody who reads a process's output; as long as he lives, what he has not read is kept.
class LiveProcess::Listener {
 public:
  Listener(std::shared_ptr<LiveProcess> process, uint64_t from);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // The next piece; nothing when the process is over and everything was read, or the wait was cancelled. A piece
  // further on than place() means that the bytes between are gone.
  Task<std::optional<OutputPiece>> next();
  uint64_t place() const { return place_; }
  // next() gives nothing from now on; who waits in it goes on.
  void stop();
  const LiveProcess& process() const { return *process_; }

 private:
  std::shared_ptr<LiveProcess> process_;
  uint64_t place_;
  bool stopped_ = false;
};

}  // namespace bj
