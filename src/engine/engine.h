// The engine: sandboxes and calls on this host, as a library. One object a process. It and all that it gives stay on
// the thread of its io_context; what blocks goes to its workers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async.h"
#include "engine/calls/call.h"
#include "engine/calls/pool.h"
#include "engine/host.h"
#include "engine/instance_lock.h"
#include "engine/layers/layer_store.h"
#include "engine/sandbox.h"
#include "engine/sandbox_pool.h"
#include "engine/templates/template.h"

namespace bj {

struct EngineOptions {
  std::string data_directory;
  PoolOptions python_pool;
  PoolOptions node_pool{.least = 1, .most = 4, .warm = 0};
  PoolOptions gated_pool{.least = 1, .most = 4, .warm = 1};  // of either language, for calls with a network
  size_t sandboxes_ahead = 0;                                // blanks kept of each kind of sandbox in use
  // Sandboxes that are kept (Sandbox::keep_as) outlive this process if it is killed. A process that would not come back
  // for them must not ask for it.
  bool keeps_sandboxes = false;
#ifdef BELLJAR_TEST_SWITCHES
  std::string without;  // a control's name, see test_switch.h
#endif
};

class Environments;

class Engine {
 public:
  // Forks the launcher, or finds the one that a server of this data directory has left when it was killed: call it
  // before the process has threads. The engine's other work happens in start().
  static Result<std::unique_ptr<Engine>> create(asio::io_context& context, EngineOptions options);
  ~Engine();

  // Prepares the data directory, removes what dead instances left, mounts the runtimes. After a failure only stop() may
  // be called.
  Task<Result<void>> start();
  // Ends every process of every pool. Sandboxes that callers hold are theirs to destroy.
  Task<void> stop();

  // A failure means that none of the tool's code has run; what went wrong in it is the result's to tell.
  Task<Result<CallResult>> call(CallSpec spec);
  // A failure leaves nothing running.
  Task<Result<std::shared_ptr<Sandbox>>> create_sandbox(SandboxSpec spec);
  // Wait until what is prepared ahead is there. For benchmarks and tests.
  Task<void> settle(const CallSpec& like);
  Task<void> settle_sandboxes() { return sandboxes_->settle(); }

  // For pools made from now on; those that exist keep theirs.
  void use_pools(PoolOptions python, PoolOptions node);

  // What a server before this one has kept: sandboxes by their keys and, below these, what belongs to each.
  struct KeptSandbox {
    KeptThing sandbox;
    std::vector<KeptThing> parts;
  };
  std::vector<std::string> kept_sandboxes() const;
  std::optional<KeptSandbox> take_kept(const std::string& key);
  // All that is to be taken up was: the rest, and what else that server held, is let go.
  void settle_kept();
  // Why what it had kept could not be had; empty: it could.
  const std::string& why_not_kept() const { return why_not_kept_; }

  Environments& environments() { return *environments_; }
  const TemplateStore& templates() const { return templates_; }
  const LayerStore& layers() const { return layers_; }
  const std::string& instance() const { return instance_.name(); }  // names its control groups; known after start()
  Host& host() { return host_; }

 private:
  // How it came to its launcher.
  struct Start {
    Fd launcher;
    bool keeps = false;
    bool goes_on = false;
    std::string why_not;
  };
  Engine(asio::io_context& context, EngineOptions options, Abilities abilities, Start start);
  static Result<Start> find_launcher(const EngineOptions& options);
  Result<void> open_data_directory();
  Result<void> take_instance();
  Result<void> open_uids();
  void keep_own();
  std::string group_prefix() const;
  void take_leave();
  std::shared_ptr<Pool> pool_for(const CallSpec& spec);
  std::shared_ptr<Pool> make_pool(const CallSpec& spec);
  void retire_pools();

  EngineOptions options_;
  bool goes_on_ = false;  // as the instance of a server that was killed
  std::string why_not_kept_;
  std::vector<KeptThing> kept_;
  std::vector<Fd> kept_own_;                   // the locks of that instance
  std::string given_cgroup_;                   // of its first server
  uint64_t generation_ = 0;                    // how many servers there were in it before
  std::map<std::string, std::string> groups_;  // of the sandboxes that were kept, by their keys
  asio::thread_pool workers_, movers_;
  TemplateStore templates_;
  LayerStore layers_;
  InstanceLock instance_;
  std::shared_ptr<const CgroupRoot> cgroup_root_;
  Host host_;
  std::map<std::string, std::shared_ptr<Pool>> pools_;
  std::vector<std::shared_ptr<Pool>> retired_;  // ending
  std::shared_ptr<SandboxPool> sandboxes_;
  std::shared_ptr<Environments> environments_;
};

}  // namespace bj
