// One waiting or running process of a call: its channel, its output, its life. Python's children and Node's processes
// look the same from here.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/async.h"
#include "engine/calls/answer.h"
#include "engine/sandbox.h"

namespace bj {

// kOwn: an empty network namespace of its own. kGated: one with a gate that lets nothing through until its call is
// known.
enum class RunnerNetwork : uint8_t { kOwn, kGated };

// Everything that must be given back when the process is dead. Derived classes hold the group, the uid, the sandbox.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual void kill() = 0;
  // Waits until every process of it is dead and gives back what it held.
  virtual Task<void> bury() = 0;
  virtual CgroupUsage used() const = 0;
  // How it ended by itself, as wait(2) has it, if that is known once it is buried.
  virtual std::optional<int> exit_status() const { return {}; }
  virtual const Seal& seal() const = 0;
  // Of one that has a gate (RunnerNetwork::kGated): what its call may reach, before the call is written.
  virtual Result<void> open_network(const CallSpec& spec, GateListener listener);
  virtual void close_network() {}

  void connect(const asio::any_io_executor& executor, Fd channel, Fd output, Fd error);
  bool send(std::string_view frame);  // false: the peer is gone or does not read

  std::unique_ptr<asio::posix::stream_descriptor> channel, output, error;
};

struct Frame {
  char type = 0;
  std::string payload;
};
// The next frame; fails at the end of the stream or when it is longer than `limit`.
Task<Result<Frame>> read_frame(asio::posix::stream_descriptor& channel, size_t limit);
Task<Result<void>> write_frame(asio::posix::stream_descriptor& channel, std::string frame);
// Whether the caller was told to end. Asked before each wait: a wait that had ended when the word came did not hear it.
Task<bool> cancelled();
// Until the process says that it is ready. The interpreter is the template's own: one that does not get ready in time
// is killed. A failure leaves it to be buried.
Task<Result<void>> await_ready(Runner& runner, std::chrono::milliseconds patience);

// Sends the call and takes the answer, with every limit in force; the runner is killed afterwards whatever happened.
// `skip_ready`: the process has not said 'R' yet (forked on demand).
Task<CallResult> converse(const asio::any_io_executor& executor, std::shared_ptr<Runner> runner, const CallSpec& spec,
                          bool skip_ready);

}  // namespace bj
