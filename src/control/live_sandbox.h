// A sandbox that somebody hosts, and who hosts it: what the life cycle needs of any provider. The local one is
// local_sandbox.h; a remote one would talk to its cloud. Everything stays on the server's thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async.h"
#include "engine/interpreters/interpreters.h"
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

// Files of a sandbox, on disk. As long as this is held they are not taken for left over.
struct SealedFiles {
  std::string layer;
  int64_t size_bytes = 0;
  std::shared_ptr<const void> hold;
};

using SandboxEnvironment = std::map<std::string, std::string>;

class LiveSandbox {
 public:
  virtual ~LiveSandbox() = default;

  // What its template asks for at its beginning: its start command runs, its ready command has succeeded.
  virtual Task<Result<void>> become_ready() { co_return Result<void>(); }
  // That may take a while.
  virtual bool waits_to_be_ready() const { return false; }
  virtual Task<Result<PauseReport>> pause() = 0;
  virtual Task<Result<void>> resume() = 0;
  // What it has written since it was made, as it is now: its processes stand still meanwhile. kConflict: a pause was
  // over, or it ended, before that was done.
  virtual Task<Result<SealedFiles>> seal_files(AfterSeal then) = 0;
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
  // What it may reach from now on; connections that this does not allow are reset.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): who can change it takes it
  virtual Result<void> change_network(NetworkPolicy) {
    return fail(Code::kUnavailable, "its network can't be changed");
  }
  // What its processes are given beside the template's.
  virtual SandboxEnvironment environment() const { return {}; }
  // Whose they are unless somebody else is named.
  virtual std::string usual_user() const { return {}; }
  // Where they start; empty: in their user's home.
  virtual std::string start_directory() const { return {}; }
  // How long it has been paused in all; grows while it is.
  virtual Clock::duration stood_still() const { return {}; }
  // When it is to end if no server is there to do it (microseconds since the epoch); 0: not by itself.
  virtual void keep_until(int64_t /*end_at*/) {}
};

inline Task<Result<std::shared_ptr<LiveSandbox>>> nothing_kept() {
  co_return fail(Code::kNotFound, "nothing outlives a server here");
}

class SandboxHost {
 public:
  virtual ~SandboxHost() = default;
  // What `row` asks for, checked without making it: the template, the user, the policy.
  virtual Task<Result<void>> check(const SandboxRow& row) = 0;
  // Whether the secrets that stand in the row's details can be given.
  virtual Task<Result<void>> check_credentials(const SandboxRow&) { co_return Result<void>(); }
  // What the row's wish means for one that lives, put into force.
  virtual Task<Result<void>> change_network(const SandboxRow&, LiveSandbox&) {
    co_return fail(Code::kUnavailable, "networks can't be changed here");
  }
  // The same once its organization's policy or credentials have changed. What can't be read allows and gives nothing.
  virtual Task<void> renew_network(const SandboxRow&, LiveSandbox&) { co_return; }
  // It is not ready yet.
  virtual Task<Result<std::shared_ptr<LiveSandbox>>> create(SandboxRow row, SandboxEnvironment environment) = 0;

  // One that shows what these show together, the lowest first.
  virtual Task<Result<SealedFiles>> join_layers(std::vector<std::string> layers) = 0;
  // From here on the files outlive the machine's end, too.
  virtual Task<Result<void>> make_durable(std::string layer) = 0;
  virtual Task<void> remove_layers(std::vector<std::string> layers) = 0;
  // All but these, except what somebody makes or holds.
  virtual Task<void> remove_other_layers(std::vector<std::string> known) = 0;

  // The ids of those that have outlived the server before this one, and one of them, with all that runs in it.
  virtual std::vector<std::string> kept() { return {}; }
  // NOLINTNEXTLINE(performance-unnecessary-value-param): who keeps some takes it
  virtual Task<Result<std::shared_ptr<LiveSandbox>>> take_up(SandboxRow /*row*/) { return nothing_kept(); }
  // The rest of them is to end.
  virtual void settle_kept() {}
  // Why those of the server before could not outlive it; empty: nothing in particular.
  virtual std::string why_lost() { return {}; }
};

}  // namespace bj
