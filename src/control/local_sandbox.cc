#include "control/local_sandbox.h"

#include <fcntl.h>
#include <sys/vfs.h>

#include <set>

#include "base/log.h"
#include "control/sandbox_image.h"
#include "control/template_start.h"

namespace bj {
namespace {

constexpr std::chrono::seconds kForReadiness{60};

// What processes have unless their caller says otherwise.
struct Habits {
  SandboxEnvironment environment;
  std::string user, directory;
};

class LocalSandbox : public LiveSandbox {
 public:
  LocalSandbox(Engine& engine, std::shared_ptr<Sandbox> sandbox, const Template& image, std::vector<Layer> layers,
               Habits habits, GateWitness witness)
      : habits_(std::move(habits)),
        note_(std::move(witness.note)),
        sandbox_(std::move(sandbox)),
        processes_(engine.host().executor, sandbox_),
        interpreters_(engine.host().executor, sandbox_,
                      image.workdir.empty() ? sandbox_->account().home : image.workdir),
        files_(engine.host(), sandbox_),
        store_(engine.layers()),
        layers_(std::move(layers)),
        finish_(std::move(witness.finish)) {}

  Task<Result<void>> become_ready() override { return start_template(processes_, sandbox_->image(), kForReadiness); }
  bool waits_to_be_ready() const override { return !sandbox_->image().ready_command.empty(); }
  Task<Result<PauseReport>> pause() override { return sandbox_->pause(); }
  Task<Result<void>> resume() override { co_return sandbox_->resume(); }
  Task<Result<SealedFiles>> seal_files(AfterSeal then) override {
    BJ_CO_TRY(const Layer layer, co_await sandbox_->seal_layer(store_, then));
    co_return SealedFiles{layer.id, static_cast<int64_t>(layer.counts.size_bytes), layer.hold};
  }
  void kill() override { sandbox_->kill(); }
  Task<void> ended() override { return sandbox_->ended(); }
  Task<void> destroy() override {
    interpreters_.end();
    co_await sandbox_->destroy();
    layers_.clear();
    if (const auto finish = std::exchange(finish_, {})) finish();
  }
  ProcessTable& processes() override { return processes_; }
  SandboxFiles& files() override { return files_; }
  Interpreters& interpreters() override { return interpreters_; }
  Task<Result<Fd>> connect(uint16_t port) override { return sandbox_->warden().connect(port); }
  const Seal& seal() const override { return sandbox_->seal(); }
  // One that has no gate, where there can be none, reaches nothing, and so it stays if nothing is allowed.
  Result<void> change_network(NetworkPolicy policy) override {
    if (!sandbox_->has_gate() && policy.allows_nothing()) return {};
    return sandbox_->open_network(std::move(policy), note_, credentials_);
  }
  // What requests are given once its network changes.
  void set_credentials(GateCredentials credentials) { credentials_ = std::move(credentials); }
  SandboxEnvironment environment() const override { return habits_.environment; }
  std::string usual_user() const override { return habits_.user; }
  std::string start_directory() const override { return habits_.directory; }
  Clock::duration stood_still() const override { return sandbox_->stood_still(); }
  void keep_until(int64_t end_at) override { sandbox_->keep_until(end_at); }

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
    // All that it writes lies there: no warden need be woken, a thousand times every few seconds, to ask.
    BJ_CO_TRY(const UpperFiles upper, sandbox_->upper());
    struct statfs space{};
    if (::fstatfs(upper.filesystem->get(), &space) != 0) co_return fail_errno("fstatfs(scratch)");
    metrics.disk_bytes = (space.f_blocks - space.f_bfree) * static_cast<uint64_t>(space.f_bsize);
    co_return metrics;
  }

 private:
  Habits habits_;
  GateListener note_;
  GateCredentials credentials_;
  std::shared_ptr<Sandbox> sandbox_;
  ProcessTable processes_;
  Interpreters interpreters_;
  SandboxFiles files_;
  LayerStore store_;
  std::vector<Layer> layers_;  // below what it writes: held
  std::function<void()> finish_;
};

}  // namespace

Result<LocalHost::Root> LocalHost::root_of(const SandboxRow& row) const {
  Root root;
  if (row.image.empty()) {
    BJ_TRY(root.image, options_.image(row.organization, row.template_name));
    return root;
  }
  BJ_TRY(const SandboxImage image, image_of(row));
  root.single = image.single;
  for (const std::string& id : image.content.layers) {
    Result<Layer> layer = engine_.layers().find(id);
    if (!layer) return fail(layer.error().code, "its files can't be had: " + layer.error().what);
    root.layers.push_back(std::move(*layer));
  }
  BJ_TRY(root.image, options_.image_of_content(row.template_name, image.content));
  return root;
}

Task<Result<SandboxSpec>> LocalHost::spec_of(const SandboxRow& row, std::vector<Layer>& layers) {
  SandboxSpec spec;
  struct Asked {
    Root root;
    NetworkPolicy network;
    SandboxCredentials credentials;
  };
  // One visit to the workers: each costs two changes of thread.
  const auto look_up = [this, &row]() -> Result<Asked> {
    Asked asked;
    BJ_TRY(asked.root, root_of(row));
    BJ_TRY(asked.network, options_.network(row));
    BJ_TRY(asked.credentials, options_.credentials(row));
    return asked;
  };
  BJ_CO_TRY(Asked asked, co_await offload(*engine_.host().workers, look_up));
  spec.image = std::move(asked.root.image);
  layers = std::move(asked.root.layers);
  spec.kept_ahead = !asked.root.single;
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
  spec.network = std::move(asked.network);
  SandboxCredentials& credentials = asked.credentials;
  spec.gated = true;  // it may be given a network later, and credentials when it is too late to be trusted
  spec.credentials = std::move(credentials.gate);
  spec.environment = std::move(credentials.placeholders);
  co_return spec;
}

Task<Result<void>> LocalHost::check(const SandboxRow& row) {
  std::vector<Layer> layers;
  BJ_CO_CHECK(co_await spec_of(row, layers));
  co_return Result<void>();
}

Task<Result<NetworkPolicy>> LocalHost::policy_of(const SandboxRow& row) {
  const auto join = [&network = options_.network, &row] { return network(row); };
  co_return co_await offload(*engine_.host().workers, join);
}

Task<GateCredentials> LocalHost::credentials_of_living(const SandboxRow& row) {
  const auto read = [&credentials = options_.credentials, &row] { return credentials_there(credentials, row).gate; };
  co_return co_await offload(*engine_.host().workers, read);
}

Task<Result<void>> LocalHost::check_credentials(const SandboxRow& row) {
  SandboxRow details = row;
  details.credentials = "[]";  // those were there when it was made
  const auto read = [&credentials = options_.credentials, &details] { return credentials(details); };
  BJ_CO_CHECK(co_await offload(*engine_.host().workers, read));
  co_return Result<void>();
}

Task<Result<void>> LocalHost::change_network(const SandboxRow& row, LiveSandbox& live) {
  BJ_CO_TRY(NetworkPolicy policy, co_await policy_of(row));
  GateCredentials credentials = co_await credentials_of_living(row);
  static_cast<LocalSandbox&>(live).set_credentials(std::move(credentials));  // this host made it
  co_return live.change_network(std::move(policy));
}

Task<void> LocalHost::renew_network(const SandboxRow& row, LiveSandbox& live) {
  const Result<NetworkPolicy> policy = co_await policy_of(row);
  GateCredentials credentials = co_await credentials_of_living(row);
  static_cast<LocalSandbox&>(live).set_credentials(std::move(credentials));
  Result<void> renewed = live.change_network(policy.value_or(NetworkPolicy()));
  if (!renewed) {
    log_warning("network_closed", {{"sandbox", row.id}, {"why", renewed.error().what}});
    static_cast<LocalSandbox&>(live).set_credentials({});
    (void)live.change_network({});
  }
}

Task<Result<SealedFiles>> LocalHost::join_layers(std::vector<std::string> layers) {
  const auto work = [store = engine_.layers(), layers] { return store.join(layers); };
  BJ_CO_TRY(const Layer layer, co_await offload(*engine_.host().movers, work));
  co_return SealedFiles{layer.id, static_cast<int64_t>(layer.counts.size_bytes), layer.hold};
}

Task<Result<void>> LocalHost::make_durable(std::string layer) {
  const auto work = [store = engine_.layers(), layer] { return store.make_durable(layer); };
  co_return co_await offload(*engine_.host().movers, work);
}

Task<void> LocalHost::remove_layers(std::vector<std::string> layers) {
  for (const std::string& id : layers) {
    (void)co_await engine_.host().launcher->drop_layers(engine_.layers().directory() + "/" + id);
    const auto work = [store = engine_.layers(), id] { return store.remove(id); };
    const Result<void> removed = co_await offload(*engine_.host().movers, work);
    if (!removed) log_warning("layer_not_removed", {{"layer", id}, {"why", removed.error().what}});
  }
}

Task<void> LocalHost::remove_other_layers(std::vector<std::string> known) {
  const auto work = [store = engine_.layers(), known = std::set<std::string>(known.begin(), known.end())] {
    return store.remove_unless([&](const std::string& id) { return known.contains(id); });
  };
  const Result<size_t> removed = co_await offload(*engine_.host().movers, work);
  if (!removed) log_warning("layers_not_removed", {{"why", removed.error().what}});
}

Task<Result<std::shared_ptr<LiveSandbox>>> LocalHost::create(SandboxRow row, SandboxEnvironment environment) {
  std::vector<Layer> layers;
  BJ_CO_TRY(SandboxSpec spec, co_await spec_of(row, layers));
  for (auto& [name, value] : environment) spec.environment[name] = std::move(value);
  if (options_.mounts && row.options != "{}") {
    const auto mount = [&mounts = options_.mounts, &row] { return mounts(row); };
    BJ_CO_TRY(spec.mounts, co_await offload(*engine_.host().workers, mount));
  }
  Template image = spec.image;
  Habits habits{spec.environment, spec.user.empty() ? image.user : spec.user, image.workdir};
  GateWitness witness = options_.witness(row);
  spec.on_network = witness.note;
  const bool closed = spec.network.allows_nothing();
  Result<std::shared_ptr<Sandbox>> made = co_await engine_.create_sandbox(spec);
  if (!made && closed) {  // a kernel without what gates are made of: it can be had all the same, closed for good
    spec.gated = false;
    made = co_await engine_.create_sandbox(std::move(spec));
  }
  BJ_CO_TRY(std::shared_ptr<Sandbox> sandbox, std::move(made));
  sandbox->keep_as(row.id);
  co_await engine_.host().launcher->all_told();  // before anybody hears that it is there
  const bool interpreter_ahead = image.environment.contains(kPreloadVariable);
  auto live = std::make_shared<LocalSandbox>(engine_, std::move(sandbox), image, std::move(layers), std::move(habits),
                                             std::move(witness));
  co_await make_start_directory(live->files(), image, engine_.host().uids ? "root" : image.user);
  if (interpreter_ahead) live->interpreters().start_ahead();
  co_return live;
}

// Its files and processes are as they were; what it may reach is what its row and its organization say now.
Task<Result<std::shared_ptr<LiveSandbox>>> LocalHost::take_up(SandboxRow row) {
  std::optional<Engine::KeptSandbox> kept = engine_.take_kept(row.id);
  if (!kept) co_return fail(Code::kNotFound, "it was not kept");
  Result<NetworkPolicy> policy = co_await policy_of(row);
  SandboxNetwork network;
  if (policy) network.policy = std::move(*policy);  // what can't be read now allows nothing, and gives nothing
  network.credentials = co_await credentials_of_living(row);
  GateWitness witness = options_.witness(row);
  network.listener = witness.note;
  const auto find = [this, &row] { return root_of(row); };
  Result<Root> root = co_await offload(*engine_.host().workers, find);  // its layers, so that they stay
  BJ_CO_TRY(std::shared_ptr<Sandbox> sandbox,
            Sandbox::take_up(engine_.host(), std::move(kept->sandbox), std::move(network)));
  // As the database has it: a server that died in between may have left it either way.
  if (row.state != "paused") {
    BJ_CO_CHECK(sandbox->resume());
  } else if (!sandbox->paused()) {
    BJ_CO_CHECK(co_await sandbox->pause());
  }
  const Template& image = sandbox->image();
  Habits habits{sandbox->environment(), row.inside_user.empty() ? image.user : row.inside_user, image.workdir};
  const auto live =
      std::make_shared<LocalSandbox>(engine_, sandbox, image, root ? std::move(root->layers) : std::vector<Layer>(),
                                     std::move(habits), std::move(witness));
  live->processes().take_up(kept->parts);
  live->interpreters().take_up(kept->parts);
  if (sandbox->image().environment.contains(kPreloadVariable)) live->interpreters().start_ahead();
  co_return live;
}

}  // namespace bj
