// Commands in a sandbox, for every API: started with a time limit of their own, logged, and each with its receipt.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "control/sandbox_manager.h"

namespace bj {

struct CommandSpec {
  ProcessSpec process;
  Input input = Input::kNone;
  std::string tag;
  uint64_t timeout_ms = 0;  // then it is killed, with what it has started in its session; 0: never
};

// What a command has written and how it ended, once it is over. Of each stream, what is beyond the limit is counted.
struct CommandResult {
  Captured output, error;
  int exit_status = 0;  // as a shell has it: 128 + signal
  int signal = 0;       // that ended it
  bool lost = false;    // the sandbox ended with it
  bool timed_out = false;
  double duration_ms = 0;
};

class CommandRunner {
 public:
  // Receipts of a sandbox's commands that are on the disk, the newest first. Blocks: it is called on one of `threads`.
  using ReadReceipts = std::function<Result<std::vector<AuditRow>>(const std::string& sandbox)>;

  // The referenced must outlive it.
  CommandRunner(const asio::any_io_executor& executor, SandboxManager& manager, AuditLog& audit,
                std::function<int64_t()> now, asio::thread_pool& threads, ReadReceipts receipts)
      : executor_(executor),
        manager_(manager),
        audit_(audit),
        now_(std::move(now)),
        threads_(threads),
        receipts_(std::move(receipts)) {}

  // kInvalid: there is no such command, directory or user inside.
  Task<Result<std::shared_ptr<LiveProcess>>> start(Actor actor, std::shared_ptr<HeldSandbox> sandbox, CommandSpec spec);
  // Goes on with those of a sandbox that has outlived the server which started them: their time limits, their receipts.
  void take_up(const std::shared_ptr<HeldSandbox>& sandbox);
  // Reads it to its end.
  static Task<CommandResult> collect(std::shared_ptr<LiveProcess> process, uint64_t limit_bytes);
  static CommandResult result_of(const LiveProcess& process);

 private:
  // Who had a process started, and the name by which its receipt is known.
  struct Origin {
    Actor actor;
    std::string run;
  };
  static Origin origin_of(const LiveProcess& process, const SandboxRow& row);
  enum class Receipt { kNone, kMayBeWritten };
  Task<void> see_to_its_end(Origin origin, std::shared_ptr<HeldSandbox> sandbox, std::shared_ptr<LiveProcess> process,
                            Receipt receipt);
  Task<bool> is_written(std::string sandbox, std::string run);
  void kill_at(const std::shared_ptr<HeldSandbox>& sandbox, const std::shared_ptr<LiveProcess>& process,
               Clock::time_point when);

  asio::any_io_executor executor_;
  SandboxManager& manager_;
  AuditLog& audit_;
  std::function<int64_t()> now_;
  asio::thread_pool& threads_;
  ReadReceipts receipts_;
};

}  // namespace bj
