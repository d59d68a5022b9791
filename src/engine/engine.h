// The engine: sandboxes and calls on this host, as a library. One object a process, on one io_context thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/async.h"
#include "engine/call.h"
#include "engine/host.h"
#include "engine/instance_lock.h"
#include "engine/layer_store.h"
#include "engine/pool.h"
#include "engine/sandbox.h"
#include "engine/sandbox_pool.h"
#include "engine/template.h"

namespace bj {

struct EngineOptions {
  std::string data_directory;
  PoolOptions python_pool;
  PoolOptions node_pool{.least = 1, .most = 4, .warm = 0};
  PoolOptions gated_pool{.least = 1, .most = 4, .warm = 1};  // of either language, for calls with a network
  size_t sandboxes_ahead = 0;                                // blanks kept of each kind of sandbox in use
#ifdef BELLJAR_TEST_SWITCHES
  std::string without;  // a control's name, see test_switch.h
#endif
};

class Environments;

class Engine {
 public:
  // Forks the launcher: call it before the process has threads. The engine's other work happens in start().
  static Result<std::unique_ptr<Engine>> create(asio::io_context& context, EngineOptions options);
  ~Engine();

  // Prepares the data directory, removes what dead instances left, mounts the runtimes.
  Task<Result<void>> start();
  // Ends every process of every pool. Sandboxes that callers hold are theirs to destroy.
  Task<void> stop();

  Task<Result<CallResult>> call(CallSpec spec);
  Task<Result<std::shared_ptr<Sandbox>>> create_sandbox(SandboxSpec spec);
  // Wait until what is prepared ahead is there. For benchmarks and tests.
  Task<void> settle(const CallSpec& like);
  Task<void> settle_sandboxes() { return sandboxes_->settle(); }

  // For pools made from now on; those that exist keep theirs.
  void use_pools(PoolOptions python, PoolOptions node);

  Environments& environments() { return *environments_; }
  const TemplateStore& templates() const { return templates_; }
  const LayerStore& layers() const { return layers_; }
  const std::string& instance() const { return instance_.name(); }  // names its control groups; known after start()
  Host& host() { return host_; }

 private:
  Engine(asio::io_context& context, EngineOptions options, Abilities abilities, Fd launcher);
  Result<void> open_data_directory();
  std::shared_ptr<Pool> pool_for(const CallSpec& spec);
  std::shared_ptr<Pool> make_pool(const CallSpec& spec);
  void retire_pools();

  EngineOptions options_;
  asio::thread_pool workers_;
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
