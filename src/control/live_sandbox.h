// A sandbox that somebody hosts, and who hosts it: what the life cycle needs of any provider. The local one is
// local_sandbox.h; a remote one would talk to its cloud. Everything stays on the server's thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async.h"
#include "engine/interpreters.h"
#include "engine/process_table.h"
#include "engine/sandbox_files.h"
#include "store/sandbox_table.h"

namespace bj {

struct SandboxMetrics {
  double cpus = 0;      // that it may use
  uint64_t cpu_ns = 0;  // that it has used
  uint64_t memory_bytes = 0, memory_limit_bytes = 0, cache_bytes = 0;
  uint64_t disk_bytes = 0, disk_limit_bytes = 0;
  uint64_t processes = 0;
  uint64_t memory_kills = 0;
};

class LiveSandbox {
 public:
  virtual ~LiveSandbox() = default;

  virtual Task<Result<PauseReport>> pause() = 0;
  virtual Task<Result<void>> resume() = 0;
  // Begins its end; ended() tells when it is over.
  virtual void kill() = 0;
  virtual Task<void> ended() = 0;
  // Kills, waits, gives everything back.
  virtual Task<void> destroy() = 0;

  virtual ProcessTable& processes() = 0;
  virtual SandboxFiles& files() = 0;
  virtual Interpreters& interpreters() = 0;
  // A stream socket to a port of its loopback.
  virtual Task<Result<Fd>> connect(uint16_t port) = 0;
  virtual Task<Result<SandboxMetrics>> metrics() = 0;
  virtual const Seal& seal() const = 0;
  // When it is to end if no server is there to do it (microseconds since the epoch); 0: not by itself.
  virtual void keep_until(int64_t /*end_at*/) {}
};

using SandboxEnvironment = std::map<std::string, std::string>;

inline Task<Result<std::shared_ptr<LiveSandbox>>> nothing_kept() {
  co_return fail(Code::kNotFound, "nothing outlives a server here");
}

class SandboxHost {
 public:
  virtual ~SandboxHost() = default;
  // What `row` asks for, checked without making it: the template, the user, the policy.
  virtual Task<Result<void>> check(const SandboxRow& row) = 0;
  virtual Task<Result<std::shared_ptr<LiveSandbox>>> create(SandboxRow row, SandboxEnvironment environment) = 0;

  // The ids of those that have outlived the server before this one, and one of them, with all that runs in it.
  virtual std::vector<std::string> kept() { return {}; }
  virtual Task<Result<std::shared_ptr<LiveSandbox>>> take_up(SandboxRow /*row*/) { return nothing_kept(); }
  // The rest of them is to end.
  virtual void settle_kept() {}
  // Why those of the server before could not outlive it; empty: nothing in particular.
  virtual std::string why_lost() { return {}; }
};

}  // namespace bj
