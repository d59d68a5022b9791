#include "engine/calls/node_source.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/within.h"
#include "sys/socket.h"

namespace bj {
namespace {

constexpr auto kStartTime = std::chrono::seconds(30);
constexpr auto kExitTime = std::chrono::milliseconds(500);
// Node's threads are counted as processes are. Without them it aborts, or waits for one that there is not.
constexpr uint64_t kFewestProcesses = 8;

// V8 has a limit of its own, by the machine's memory, and dies of it without a word that we could pass on. This one
// lies beyond the sandbox's: whoever needs too much is ended by the kernel, and we can tell why.
std::string heap_limit(const Limits& limits) {
  return fmt::format("--max-old-space-size={}", 2 * (limits.memory_bytes >> 20));
}

class NodeRunner : public Runner {
 public:
  NodeRunner(std::shared_ptr<Sandbox> sandbox, Process process)
      : sandbox_(std::move(sandbox)), process_(std::move(process)) {}

  void kill() override {
    killed_ = true;
    sandbox_->kill();
  }
  Task<void> bury() override {
    if (!killed_) co_await hear_how_it_ended();
    last_used_ = sandbox_->usage();
    co_await sandbox_->destroy();
    buried_ = true;
  }
  CgroupUsage used() const override { return buried_ ? last_used_ : sandbox_->usage(); }
  std::optional<int> exit_status() const override { return exit_status_; }
  const Seal& seal() const override { return sandbox_->seal(); }
  Result<void> open_network(const CallSpec& spec, GateListener listener) override {
    return sandbox_->open_network(spec.network, std::move(listener), spec.credentials);
  }
  void close_network() override { sandbox_->close_network(); }

 private:
  // Its channel closes before the warden has told. Who closed the channel and lives on is not waited for long.
  Task<void> hear_how_it_ended() {
    const Result<ExitReport> exit = co_await get_within(process_.exit, kExitTime);
    if (exit) exit_status_ = exit->status;
    killed_ = true;
  }

  std::shared_ptr<Sandbox> sandbox_;
  Process process_;
  std::optional<int> exit_status_;
  bool killed_ = false;
  bool buried_ = false;
  CgroupUsage last_used_;
};

}  // namespace

Task<Result<std::shared_ptr<Runner>>> NodeSource::start_now() {
  if (limits_.processes < kFewestProcesses) {
    co_return fail(Code::kInvalid,
                   fmt::format("{} processes are too few for a TypeScript tool: Node.js has threads of its own, which "
                               "count; allow {} at least (--processes)",
                               limits_.processes, kFewestProcesses));
  }
  BJ_CO_TRY(auto channel, guarded_socket_pair(SOCK_STREAM));
  SandboxSpec spec;
  spec.image = environment_.image;
  spec.limits = limits_;
  spec.gated = network_ == RunnerNetwork::kGated;
  if (!environment_.host_packages.empty()) spec.mounts.push_back({environment_.host_packages, kPackagesInside, false});
  BJ_CO_TRY(const auto sandbox, co_await Sandbox::create(host_, std::move(spec)));
  ProcessSpec process;
  process.arguments = {"node",
                       "--experimental-vm-modules",
                       "--experimental-import-meta-resolve",
                       "--no-warnings",
                       "--expose-gc",
                       "--v8-pool-size=1",
                       "--no-lazy-feedback-allocation",
                       heap_limit(limits_),
                       "/opt/belljar/node/main.mjs",
                       "3"};
  process.extra_descriptors = {channel.second.get()};
  Result<Process> started = co_await sandbox->start(std::move(process));
  if (!started) {
    co_await sandbox->destroy();
    if (started.error().code != Code::kNotFound) co_return tl::unexpected(started.error());
    co_return fail(Code::kUnavailable,
                   "the template has no Node.js: install Node 20 or newer on the host (package nodejs) "
                   "or import a template that has it");
  }
  Fd output = std::move(started->output), error = std::move(started->error);
  auto runner = std::make_shared<NodeRunner>(sandbox, std::move(*started));
  runner->connect(host_.executor, std::move(channel.first), std::move(output), std::move(error));
  co_return std::shared_ptr<Runner>(std::move(runner));
}

Task<Result<std::shared_ptr<Runner>>> NodeSource::start_ahead() {
  BJ_CO_TRY(auto runner, co_await start_now());
  if (!co_await await_ready(*runner, kStartTime)) {
    co_await runner->bury();
    co_return fail(Code::kUnavailable, "Node did not get ready");
  }
  co_return std::move(runner);
}

Task<bool> NodeSource::warm_up(Runner&) { co_return true; }

Task<void> NodeSource::stop() { co_return; }

}  // namespace bj
