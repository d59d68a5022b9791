// The processes of one sandbox that were started through it, running and just ended, by their pid inside or their tag.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/live_process.h"

namespace bj {

// Stays on its executor's thread.
class ProcessTable {
 public:
  ProcessTable(const asio::any_io_executor& executor, std::shared_ptr<Sandbox> sandbox)
      : executor_(executor), sandbox_(std::move(sandbox)), state_(std::make_shared<State>()) {}
  // Goes on with those that another server has started: takes what the keeper had of them out of the parts of their
  // sandbox.
  void take_up(std::vector<KeptThing>& parts);

  Task<Result<std::shared_ptr<LiveProcess>>> start(ProcessSpec spec, LiveProcessOptions options);
  Result<std::shared_ptr<LiveProcess>> find(int pid) const;
  Result<std::shared_ptr<LiveProcess>> find_by_tag(const std::string& tag) const;
  std::vector<std::shared_ptr<LiveProcess>> all() const;  // by pid, ended ones included
  // To it and what it has started in its session. kConflict: it has ended.
  Task<Result<void>> signal(int pid, int signal);

 private:
  struct State {
    std::map<int, std::shared_ptr<LiveProcess>> processes;
    uint64_t last = 0;  // number of a record
  };
  static void put(State& state, const std::shared_ptr<LiveProcess>& process);
  void take_up(KeptThing thing);
  void wait_for(const std::shared_ptr<ProcessRecord>& record, const std::shared_ptr<Process>& process,
                const ProcessNote& note);

  static constexpr size_t kMostEnded = 32;  // with their output

  asio::any_io_executor executor_;
  std::shared_ptr<Sandbox> sandbox_;
  std::shared_ptr<State> state_;  // shared with what another server's process is waited for with
};

// Below a sandbox's key.
inline constexpr const char* kKeptProcesses = "/process/";

}  // namespace bj
