// Watches a process in a sandbox from outside, for the limits that the kernel does not keep by itself: wall time, CPU
// time of all processes together, output. A limit of time that is reached kills; output beyond its limit is dropped and
// counted, because a full pipe would hold the process up.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/async.h"
#include "engine/sandbox.h"

namespace bj {

// What is watched: how it is killed and what it has used so far.
struct Watched {
  Limits limits;
  std::function<void()> kill;
  std::function<CgroupUsage()> used;
};
Watched watched(const std::shared_ptr<Sandbox>& sandbox);

// Stays on its executor's thread. The clocks run from the constructor to finish(), or to the end of the watch.
class ProcessWatch {
 public:
  ProcessWatch(const asio::any_io_executor& executor, Watched subject);
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  // Reads both streams until finish(), keeping `output_bytes` of each.
  void collect(Fd output, Fd error);

  // The process has ended. What lies in the streams is taken and they are closed: a child of it that holds them open is
  // not waited for.
  void finish();

  const std::string& stopped_by() const;  // the limit that killed it: "wall time", "cpu"; empty: none did
  const Captured& output() const;
  const Captured& error() const;
  // Every limit that was reached, the one that killed first.
  std::vector<std::string> limits_hit() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with what waits for timers and streams
};

}  // namespace bj
