#include "control/local_sandbox.h"

#include <fcntl.h>
#include <sys/vfs.h>

namespace bj {
namespace {

// What processes have unless their caller says otherwise.
struct Habits {
  SandboxEnvironment environment;
  std::string user, directory;
  bool network = false;
};

class LocalSandbox : public LiveSandbox {
 public:
  LocalSandbox(Host& host, std::shared_ptr<Sandbox> sandbox, Template image, Habits habits,
               std::function<void()> finish)
      : habits_(std::move(habits)),
        has_gate_(habits_.network),
        sandbox_(std::move(sandbox)),
        processes_(host.executor, sandbox_),
        interpreters_(host.executor, sandbox_, image.workdir.empty() ? sandbox_->account().home : image.workdir),
        files_(host, sandbox_, std::move(image)),
        finish_(std::move(finish)) {}

  Task<Result<PauseReport>> pause() override { return sandbox_->pause(); }
  Task<Result<void>> resume() override { co_return sandbox_->resume(); }
  void kill() override { sandbox_->kill(); }
  Task<void> ended() override { return sandbox_->ended(); }
  Task<void> destroy() override {
    interpreters_.end();
    co_await sandbox_->destroy();
    if (const auto finish = std::exchange(finish_, {})) finish();
  }
  ProcessTable& processes() override { return processes_; }
  SandboxFiles& files() override { return files_; }
  Interpreters& interpreters() override { return interpreters_; }
  Task<Result<Fd>> connect(uint16_t port) override { return sandbox_->warden().connect(port); }
  const Seal& seal() const override { return sandbox_->seal(); }
  // One that was made without a gate reaches nothing, and so it stays if nothing is allowed.
  Result<void> change_network(NetworkPolicy policy) override {
    if (!has_gate_ && policy.allows_nothing()) return {};
    return sandbox_->change_network(std::move(policy));
  }
  SandboxEnvironment environment() const override { return habits_.environment; }
  std::string usual_user() const override { return habits_.user; }
  std::string start_directory() const override { return habits_.directory; }

  // What it writes lies in one filesystem of its own, whose size is its disk limit.
  Task<Result<SandboxMetrics>> metrics() override {
    const CgroupLoad load = sandbox_->load();
    const CgroupUsage used = sandbox_->usage();
    const Limits& limits = sandbox_->limits();
    SandboxMetrics metrics;
    metrics.cpus = limits.cpus;
    metrics.cpu_ns = used.cpu_ns;
    metrics.memory_bytes = load.memory_bytes;
    metrics.memory_limit_bytes = limits.memory_bytes;
    metrics.cache_bytes = load.cache_bytes;
    metrics.processes = load.processes;
    metrics.memory_kills = used.memory_kills;
    metrics.disk_limit_bytes = limits.disk_bytes;
    if (sandbox_->paused()) co_return metrics;  // its warden stands still, too
    BJ_CO_TRY(const Fd root,
              co_await sandbox_->warden().open("/", O_PATH | O_DIRECTORY, 0, 0, 0, FileType::kDirectory));
    struct statfs space{};
    if (::fstatfs(root.get(), &space) != 0) co_return fail_errno("fstatfs(/)");
    metrics.disk_bytes = (space.f_blocks - space.f_bfree) * static_cast<uint64_t>(space.f_bsize);
    co_return metrics;
  }

 private:
  Habits habits_;
  bool has_gate_;
  std::shared_ptr<Sandbox> sandbox_;
  ProcessTable processes_;
  Interpreters interpreters_;
  SandboxFiles files_;
  std::function<void()> finish_;
};

}  // namespace

Task<Result<SandboxSpec>> LocalHost::spec_of(const SandboxRow& row) {
  SandboxSpec spec;
  const auto find = [&image = options_.image, &row] { return image(row.organization, row.template_name); };
  BJ_CO_TRY(spec.image, co_await offload(*engine_.host().workers, find));
  spec.limits = options_.limits;
  spec.limits.wall_ms = 0;  // its end is the manager's business
  spec.limits.cpu_ms = 0;
  spec.limits.cpus = row.cpus;
  spec.limits.memory_bytes = static_cast<uint64_t>(row.memory_bytes);
  spec.limits.disk_bytes = static_cast<uint64_t>(row.disk_bytes);
  spec.limits.processes = static_cast<uint64_t>(row.processes);
  spec.user = row.inside_user;
  spec.require_full_seal = options_.require_full_seal;
  BJ_CO_CHECK(spec.image.account(spec.user.empty() ? spec.image.user : spec.user));
  const auto join = [&network = options_.network, &row] { return network(row.organization, row.network); };
  BJ_CO_TRY(spec.network, co_await offload(*engine_.host().workers, join));
  const auto read = [&credentials = options_.credentials, &row] { return credentials(row); };
  BJ_CO_TRY(SandboxCredentials credentials, co_await offload(*engine_.host().workers, read));
  spec.credentials = std::move(credentials.gate);
  spec.environment = std::move(credentials.placeholders);
  co_return spec;
}

Task<Result<void>> LocalHost::check(const SandboxRow& row) {
  BJ_CO_CHECK(co_await spec_of(row));
  co_return Result<void>();
}

Task<Result<void>> LocalHost::change_network(const SandboxRow& row, LiveSandbox& live) {
  const auto join = [&network = options_.network, &row] { return network(row.organization, row.network); };
  BJ_CO_TRY(NetworkPolicy policy, co_await offload(*engine_.host().workers, join));
  co_return live.change_network(std::move(policy));
}

Task<Result<std::shared_ptr<LiveSandbox>>> LocalHost::create(SandboxRow row, SandboxEnvironment environment) {
  BJ_CO_TRY(SandboxSpec spec, co_await spec_of(row));
  for (auto& [name, value] : environment) spec.environment[name] = std::move(value);
  if (options_.mounts && row.options != "{}") {
    const auto mount = [&mounts = options_.mounts, &row] { return mounts(row); };
    BJ_CO_TRY(spec.mounts, co_await offload(*engine_.host().workers, mount));
  }
  Template image = spec.image;
  Habits habits{spec.environment, spec.user.empty() ? image.user : spec.user, image.workdir,
                !spec.network.allows_nothing()};
  GateWitness witness;
  if (!spec.network.allows_nothing()) witness = options_.witness(row);
  spec.on_network = std::move(witness.note);
  BJ_CO_TRY(std::shared_ptr<Sandbox> sandbox, co_await engine_.create_sandbox(std::move(spec)));
  const bool interpreter_ahead = image.environment.contains(kPreloadVariable);
  auto live = std::make_shared<LocalSandbox>(engine_.host(), std::move(sandbox), std::move(image), std::move(habits),
                                             std::move(witness.finish));
  if (interpreter_ahead) live->interpreters().start_ahead();
  co_return live;
}

}  // namespace bj
