#include "engine/sandbox.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/vfs.h>

#include "base/id.h"
#include "egress/gate.h"
#include "engine/process_record.h"
#include "engine/test_switch.h"
#include "seal/report.h"
#include "sys/bytes.h"
#include "sys/duplicate.h"
#include "sys/files.h"
#include "sys/pidfd.h"
#include "sys/pipe.h"
#include "sys/socket.h"
#include "sys/transfer.h"

namespace bj {
namespace {

constexpr int kLastResortMs = 5000;

Result<void> check_mount(const MountSpec& mount) {
  constexpr size_t kMaxTarget = 255, kMaxDepth = 16;
  const auto depth = static_cast<size_t>(std::count(mount.target.begin(), mount.target.end(), '/'));
  const bool plain = mount.target.starts_with("/") && mount.target.size() > 1 && mount.target.size() <= kMaxTarget &&
                     depth <= kMaxDepth && mount.target.find("..") == std::string::npos &&
                     mount.target.find('\0') == std::string::npos;
  if (!plain) {
    return fail(Code::kInvalid, "mount target \"" + mount.target.substr(0, kMaxTarget) +
                                    "\" must be an absolute path without .., at most 255 characters and 16 levels");
  }
  return {};
}

// "packages", "2 rules", "open within 1 rule": the innermost layer first.
std::string summary(const NetworkPolicy& policy) {
  std::string out;
  for (auto layer = policy.layers.rbegin(); layer != policy.layers.rend(); ++layer) {
    static constexpr std::array<const char*, 3> kPresets = {"", "packages", "open"};
    const std::string preset = kPresets[static_cast<size_t>(layer->preset)];
    const size_t rules = layer->rules.size();
    if (!out.empty()) out += " within ";
    out += preset;
    if (rules != 0) out += (preset.empty() ? "" : " and ") + std::to_string(rules) + (rules == 1 ? " rule" : " rules");
  }
  return out;
}

// Code inside has those that it was given first.
void keep_placeholders(const GateCredentials& before, GateCredentials& now) {
  for (const GateCredential& had : before) {
    for (GateCredential& has : now) {
      if (has.name == had.name && !has.placeholder.empty() && !had.placeholder.empty())
        has.placeholder = had.placeholder;
    }
  }
}

bool opens_tls(const SandboxSpec& spec) { return !spec.credentials.empty() || is_about_requests(spec.network); }

Result<GateEndpoints> copies_of(GateEndpoints& ends) {
  GateEndpoints copies;
  for (size_t i = 0; i < GateEndpoints::kCount; ++i) {
    BJ_TRY(*copies.all()[i], duplicate(ends.all()[i]->get()));
  }
  return copies;
}

// What its root consists of, for the launcher by number and for the plan by place.
Task<Result<void>> put_together(const SandboxSpec& spec, LauncherClient& launcher, SandboxPolicy& policy,
                                LaunchRequest& request) {
  for (const TemplateLayer& layer : spec.image.layers) {
    BJ_CO_TRY(const uint16_t number, co_await launcher.add_layer(layer.path));
    request.layers.push_back(number);
    policy.layer_targets.push_back(layer.target);
  }
  if (spec.mounts.size() > kMaxExtraMounts) co_return fail(Code::kInvalid, "a sandbox can have 8 mounts of its own");
  for (const MountSpec& mount : spec.mounts) {
    BJ_CO_CHECK(check_mount(mount));
    ExtraLayer extra{.writable = mount.writable, .tree = mount.tree ? mount.tree->get() : -1};
    if (!mount.tree) {
      BJ_CO_TRY(extra.number, co_await launcher.add_layer(mount.source));
    }
    request.extras.push_back(extra);
    policy.extra_targets.push_back(mount.target);
  }
  co_return Result<void>();
}

}  // namespace

std::map<Control, std::string> unavailable_controls(const Host& host) {
  std::map<Control, std::string> out;
  const CgroupRoot& cgroups = host.cgroups->root();
  const auto controller = [&](Control control, Controller c) {
    if (!cgroups.has(c)) out[control] = cgroups.why_not(c);
  };
  controller(Control::kMemory, Controller::kMemory);
  controller(Control::kCpu, Controller::kCpu);
  controller(Control::kPids, Controller::kPids);
  controller(Control::kIo, Controller::kIo);
  if (cgroups.hierarchies().empty()) out[Control::kCgroupNs] = "no cgroup to be in";
  if (!host.abilities.idmapped_mounts.available) out[Control::kIdmap] = host.abilities.idmapped_mounts.detail;
  if (!host.uids) out[Control::kUid] = "rootless: one user id for all";
  if (host.abilities.landlock_abi == 0) out[Control::kLandlock] = host.abilities.landlock.detail;
  return out;
}

Sandbox::Sandbox(Host& host, SandboxSpec spec) : host_(host), spec_(std::move(spec)), expiry_(host.executor) {}

Sandbox::~Sandbox() {
  if (gate_) gate_->stop();
  if (!kept_as_.empty() && host_.launcher) host_.launcher->forget(kept_as_);
  if (!pidfd_) return;
  kill();
  (void)wait_for_end(pidfd_->native_handle(), kLastResortMs);
}

Task<Result<std::shared_ptr<Sandbox>>> Sandbox::create(Host& host, SandboxSpec spec) {
  std::shared_ptr<Sandbox> sandbox(new Sandbox(host, std::move(spec)));
  Result<void> launched = co_await sandbox->launch();
  if (launched && sandbox->spec_.require_full_seal && !sandbox->seal_.full()) {
    launched = fail(Code::kUnavailable, "a full seal was asked for and can't be had: " + sandbox->seal_.missing());
  }
  if (!launched) {
    co_await sandbox->destroy();
    co_return tl::unexpected(launched.error());
  }
  co_return sandbox;
}

Result<void> Sandbox::adopt(const SandboxSpec& spec) {
  if (has_ended()) return fail(Code::kInternal, "the sandbox has ended");
  if (spec.require_full_seal && !seal_.full()) {
    return fail(Code::kUnavailable, "a full seal was asked for and can't be had: " + seal_.missing());
  }
  spec_.image = spec.image;
  spec_.environment = spec.environment;
  spec_.user = spec.user;
  spec_.limits = spec.limits;
  if (spec_.gated) BJ_CHECK(open_network(spec.network, spec.on_network, spec.credentials));
  if (!host_.uids) return {};
  BJ_TRY(account_, spec_.image.account(spec_.user.empty() ? spec_.image.user : spec_.user));
  return {};
}

// Root owns a range of ids a sandbox; an unprivileged user has one id, which is the sandbox's user.
Result<void> Sandbox::choose_ids(SandboxPolicy& policy) {
  const std::string& user = spec_.user.empty() ? spec_.image.user : spec_.user;
  BJ_TRY(account_, spec_.image.account(user));
  if (host_.uids) {
    BJ_TRY(range_, host_.uids->take());
    policy.ids = {.kind = IdMap::Kind::kRange, .inside = 0, .outside = range_.first(), .count = 65536};
  } else {
    policy.ids = {.kind = IdMap::Kind::kSingle, .inside = account_.uid, .outside = 0, .count = 1};
    account_.gid = account_.uid;
  }
  return {};
}

SealFacts Sandbox::facts(const Plan& plan, const LaunchRequest& request) const {
  return {.plan = &plan,
          .clone_flags = request.clone_flags,
          .own_network = request.own_network,
          .idmapped = request.idmap_layers,
          .calls = false,
          .ids = request.ids.kind,
          .unavailable = unavailable_controls(host_)};
}

Task<Result<void>> Sandbox::launch() {
  SandboxPolicy policy;
  policy.root = spec_.root;
  policy.caps = spec_.caps;
  policy.syscalls = spec_.syscalls;
  policy.limits = spec_.limits;
  policy.own_trust = spec_.gated || opens_tls(spec_);
  policy.boot_id = new_uuid4();
  LaunchRequest request;
  BJ_CO_CHECK(choose_ids(policy));
#ifdef BELLJAR_TEST_SWITCHES
  if (host_.without == "mask") remove_masks(spec_.image.layers);
#endif
  BJ_CO_CHECK(co_await put_together(spec_, *host_.launcher, policy, request));
  BJ_CO_TRY(group_, host_.cgroups->take(spec_.limits));
  BJ_CO_TRY(auto control, socket_pair(SOCK_SEQPACKET));

  Plan plan = sandbox_plan(policy, host_.abilities, host_.cgroups->joined_controls(), host_.cgroups->joining());
  request.plan = &plan;
  request.clone_flags = sandbox_clone_flags();
  request.ids = policy.ids;
  request.idmap_layers = policy.ids.kind == IdMap::Kind::kRange && host_.abilities.idmapped_mounts.available;
  request.runtimes_layer = host_.runtimes_layer;
  request.control = control.second.get();
  request.cgroup_files = group_.join_files();
  request.cgroup_directory = group_.directory();
  request.gated_network = spec_.gated || !spec_.network.allows_nothing();
#ifdef BELLJAR_TEST_SWITCHES
  switch_off_in_sandbox(host_.without, spec_.syscalls, plan, request);
#endif
  seal_ = report_seal(facts(plan, request));
  BJ_CO_TRY(Launched launched, co_await host_.launcher->launch(request));
  pidfd_ = std::make_unique<asio::posix::stream_descriptor>(host_.executor, launched.pidfd.release());
  if (launched.gate.connections.ok()) {
    BJ_CO_TRY(kept_ends_, host_.launcher->keeps() ? copies_of(launched.gate) : Result<GateEndpoints>(GateEndpoints()));
    BJ_CO_CHECK(open_gate(std::move(launched.gate)));
  }
  control.second.reset();
  warden_ = std::make_shared<WardenClient>(host_.executor, std::move(control.first));
  BJ_CO_CHECK(co_await warden_->ready([&plan](int step, int error) { return plan.describe({step, error}); }));
  if (Fd scratch = warden_->take_scratch(); scratch.ok()) scratch_ = std::make_shared<const Fd>(std::move(scratch));
  BJ_CO_CHECK(co_await trust_gate());
  if (spec_.image.sudo && policy.ids.kind == IdMap::Kind::kRange && spec_.root == RootMode::kWritable) {
    BJ_CO_CHECK(co_await warden_->serve_sudo());
  }
  co_return Result<void>();
}

Result<void> Sandbox::open_gate(GateEndpoints ends) {
  BJ_TRY(gate_, Gate::open(host_.executor, std::move(ends), spec_.network, spec_.on_network, kept_authority_));
  BJ_CHECK(gate_->give(spec_.credentials));
  if (spec_.gated) BJ_CHECK(gate_->ensure_authority());  // credentials may come when it is too late to be trusted
  report_network();
  return {};
}

Task<Result<void>> Sandbox::trust_gate() {
  if (!gate_ || gate_->certificate() == nullptr) co_return Result<void>();
  const bool own_root = host_.uids != nullptr;
  Result<TrustVariables> added =
      co_await add_trust(*warden_, *gate_->certificate(), own_root ? 0 : account_.uid, own_root ? 0 : account_.gid);
  if (added) {
    trust_ = std::move(*added);
    co_return Result<void>();
  }
  if (opens_tls(spec_)) co_return tl::unexpected(added.error());
  untrusted_ = added.error();  // no matter to who wants no credentials
  co_return Result<void>();
}

void Sandbox::report_network() {
  const std::string policy = spec_.network.allows_nothing() ? "that lets nothing through" : "with the policy ";
  seal_.set(Control::kNetNs, ControlState::kOn, "a gate " + policy + summary(spec_.network));
}

Result<void> Sandbox::open_network(NetworkPolicy policy, GateListener listener, GateCredentials credentials) {
  if (untrusted_ && (!credentials.empty() || is_about_requests(policy))) return tl::unexpected(*untrusted_);
  BJ_CHECK(change_network(std::move(policy)));
  spec_.on_network = listener;
  keep_placeholders(spec_.credentials, credentials);
  spec_.credentials = std::move(credentials);
  gate_->listen(std::move(listener));
  return gate_->give(spec_.credentials);
}

void Sandbox::close_network() {
  if (gate_) gate_->stop();
}

Result<void> Sandbox::change_network(NetworkPolicy policy) {
  if (!gate_)
    return fail(Code::kInvalid, "this sandbox has no gate, so it can't get a network: create one with a policy");
  BJ_CHECK(gate_->change(policy));
  spec_.network = std::move(policy);
  report_network();
  return {};
}

Result<Account> Sandbox::known_account(const std::string& user) const {
  if (user.empty()) return account_;
  const auto added = added_accounts_.find(user);
  return added == added_accounts_.end() ? spec_.image.account(user) : added->second;
}

Task<Result<Account>> Sandbox::find_account(std::string user) {
  if (user.empty()) co_return account_;
  Result<Account> account = spec_.image.account(user);
  if (account || account.error().code != Code::kNotFound) co_return account;
  added_accounts_.erase(user);
  constexpr size_t kLongestAccounts = 1 << 20;
  constexpr size_t kMostAdded = 1000;  // that are remembered
  const Result<std::string> accounts = co_await read_file("/etc/passwd", kLongestAccounts);
  const std::optional<Account> added = accounts ? account_in(*accounts, user) : std::nullopt;
  if (!added) co_return account;
  if (added_accounts_.size() >= kMostAdded) added_accounts_.clear();
  added_accounts_[user] = *added;
  co_return *added;
}

Task<Result<Account>> Sandbox::account_of(std::string user) {
  BJ_CO_TRY(Account account, co_await find_account(user));
  if (!host_.uids && account.uid != account_.uid) {
    co_return fail(Code::kUnavailable,
                   "rootless, a sandbox has one user id: create it for user \"" + user + "\" instead");
  }
  co_return account;
}

std::vector<std::string> Sandbox::environment_for(const Account& account, const ProcessSpec& spec) const {
  std::map<std::string, std::string> merged = spec_.image.environment;
  merged["HOME"] = account.home;
  const std::string& own = spec_.user.empty() ? spec_.image.user : spec_.user;
  merged["USER"] = account.uid == 0 ? "root" : spec.user.empty() ? own : spec.user;
  merged["LOGNAME"] = merged["USER"];
  if (spec.terminal) merged["TERM"] = "xterm-256color";
  for (const auto* layer : {&trust_, &spec_.environment, &spec.environment}) {
    for (const auto& [name, value] : *layer) merged[name] = value;
  }
#ifdef BELLJAR_TEST_SWITCHES
  if (host_.without == name_of(Control::kEnvironment)) add_own_environment(merged);
#endif
  std::vector<std::string> out;
  for (const auto& [name, value] : merged) out.push_back(name + "=" + value);
  return out;
}

Task<Result<Process>> Sandbox::start(ProcessSpec spec, std::shared_ptr<ProcessRecord> record) {
  for (const auto& variable : spec.environment) {
    if (variable.first.empty() || variable.first.find('=') != std::string::npos)
      co_return fail(Code::kInvalid, "a variable's name is empty or has \"=\" in it");
  }
  BJ_CO_TRY(const Account account, co_await account_of(spec.user));
  SpawnRequest request;
  request.environment = environment_for(account, spec);
  const std::string& start = spec_.image.workdir.empty() ? account.home : spec_.image.workdir;
  request.directory = spec.directory.empty() ? start : spec.directory;
  request.uid = account.uid;
  request.gid = account.gid;
  request.terminal = spec.terminal;
  request.rows = spec.rows;
  request.columns = spec.columns;
  request.arguments = std::move(spec.arguments);
  Process process;
  std::vector<Fd> theirs;  // the process's ends, closed here once they were passed
  if (!spec.terminal) {
    BJ_CO_TRY(Pipe input, make_stream_pipe());
    BJ_CO_TRY(Pipe output, make_stream_pipe());
    BJ_CO_TRY(Pipe error, make_stream_pipe());
    process.input = std::move(input.write);
    process.output = std::move(output.read);
    process.error = std::move(error.read);
    theirs.push_back(std::move(input.read));
    theirs.push_back(std::move(output.write));
    theirs.push_back(std::move(error.write));
  }
  if (record && !spec.terminal) {
    const bool with_input = record->facts().input_open != 0;
    request.no_input = !with_input;
    record->hold(with_input ? process.input.get() : -1, process.output.get(), process.error.get());
  }
  request.witness = std::move(record);
  for (const Fd& fd : theirs) request.descriptors.push_back(fd.get());
  for (const int fd : spec.extra_descriptors) request.descriptors.push_back(fd);
  BJ_CO_TRY(SpawnReply started, co_await warden_->spawn(std::move(request)));
  process.pid = started.pid;
  process.terminal = std::move(started.terminal);
  process.exit = std::move(started.exit);
  co_return process;
}

Task<Result<void>> Sandbox::write_file(std::string path, std::string data, unsigned mode) {
  BJ_CO_TRY(const Fd file, co_await warden_->open(path, O_WRONLY | O_CREAT | O_TRUNC, mode, account_.uid, account_.gid,
                                                  FileType::kRegular));
  co_return bj::write_all(file.get(), data, path);
}

Task<Result<std::string>> Sandbox::read_file(std::string path, size_t limit) {
  BJ_CO_TRY(const Fd file, co_await warden_->open(path, O_RDONLY, 0, account_.uid, account_.gid, FileType::kRegular));
  co_return read_all(file.get(), limit, path);
}

Task<Result<uint64_t>> Sandbox::copy_in(Fd from, std::string path, unsigned mode) {
  BJ_CO_TRY(Fd to, co_await warden_->open(path, O_WRONLY | O_CREAT | O_TRUNC, mode, account_.uid, account_.gid,
                                          FileType::kRegular));
  auto work = [from = std::make_shared<Fd>(std::move(from)), to = std::make_shared<Fd>(std::move(to))] {
    return transfer(from->get(), to->get());
  };
  co_return co_await offload(*host_.movers, std::move(work));
}

Task<Result<uint64_t>> Sandbox::copy_out(std::string path, Fd to) {
  BJ_CO_TRY(Fd from, co_await warden_->open(path, O_RDONLY, 0, account_.uid, account_.gid, FileType::kRegular));
  auto work = [from = std::make_shared<Fd>(std::move(from)), to = std::make_shared<Fd>(std::move(to))] {
    return transfer(from->get(), to->get());
  };
  co_return co_await offload(*host_.movers, std::move(work));
}

void Sandbox::expire_at(Clock::time_point when) {
  expiry_.expires_at(when);
  expiry_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    if (const auto self = weak.lock(); self && !error) self->kill();
  });
}

Task<Result<PauseReport>> Sandbox::pause() {
  const auto self = shared_from_this();
  PauseReport report;
  report.memory_before = group_.load().memory_bytes;
  BJ_CO_CHECK(group_.freeze());
  stand_still();
  warden_->set_stillness(WardenClient::Stillness::kPaused);
  pause_asked_ = true;
  // What it could not give back is no failure: the processes stand still all the same.
  const Result<void> given = co_await offload(*host_.movers, group_.reclaim_work());
  if (!given && given.error().code == Code::kBusy) {
    (void)resume();
    co_return tl::unexpected(given.error());
  }
  report.memory_after = group_.load().memory_bytes;
  co_return report;
}

Result<void> Sandbox::resume() {
  if (moved_) *moved_ = true;
  BJ_CHECK(group_.thaw());
  stood_still_ = stood_still();
  still_since_.reset();
  pause_asked_ = false;
  if (warden_) warden_->set_stillness(WardenClient::Stillness::kNone);
  return {};
}

void Sandbox::stand_still() {
  if (!still_since_) still_since_ = Clock::now();
}

Clock::duration Sandbox::stood_still() const {
  return stood_still_ + (still_since_ ? Clock::now() - *still_since_ : Clock::duration::zero());
}

bool Sandbox::disk_is_full() const {
  struct statfs space{};
  return scratch_ && ::fstatfs(scratch_->get(), &space) == 0 && (space.f_bfree == 0 || space.f_ffree == 0);
}

Result<UpperFiles> Sandbox::upper() const {
  if (!scratch_) return fail(Code::kUnavailable, "this sandbox has no files of its own to keep");
  UpperFiles upper;
  upper.filesystem = scratch_;
  upper.places = upper_places(spec_.image.targets());
  if (host_.uids) upper.ids = {range_.first(), 65536};
  return upper;
}

// A frozen process dies when it is thawed, before it runs on.
void Sandbox::kill() {
  if (pidfd_) kill_process(pidfd_->native_handle());
  if (paused()) (void)resume();
}

// PID 1 is reported dead only after every other process of its namespace is.
Task<void> Sandbox::ended() {
  if (pidfd_) co_await readable(*pidfd_);
}

bool Sandbox::has_ended() const { return !pidfd_ || bj::has_ended(pidfd_->native_handle()); }

Task<void> Sandbox::destroy() {
  const auto self = shared_from_this();
  expiry_.cancel();
  kill();
  if (gate_) gate_->stop();
  while (!has_ended()) co_await ended();  // of a caller who is told to give up, a wait may end before it is over
  if (const std::string key = std::exchange(kept_as_, ""); !key.empty() && host_.launcher) host_.launcher->forget(key);
  gate_.reset();
  pidfd_.reset();
  if (warden_) warden_->close();
  scratch_.reset();
  group_.give_back();
  range_ = UidRange();
}

// Bounded: whoever writes as fast as we read must not keep this thread from its other work, the wall clock included.
bool capture_available(int fd, uint64_t limit, Captured& into) {
  constexpr int kReadsAtOnce = 16;
  char buffer[65536];
  for (int i = 0; i < kReadsAtOnce; ++i) {
    const Moved read = read_some(fd, buffer, sizeof buffer);
    if (!read.ok()) return read.not_now();
    if (read.ended()) return false;
    const uint64_t room = limit > into.text.size() ? limit - into.text.size() : 0;
    const uint64_t kept = std::min<uint64_t>(room, read.size);
    into.text.append(buffer, kept);
    into.dropped += read.size - kept;
    if (read.size < sizeof buffer) break;  // a short read: nothing more now
  }
  return true;
}

Task<void> capture(asio::posix::stream_descriptor& stream, uint64_t limit, Captured& into) {
  boost::system::error_code ignored;
  stream.native_non_blocking(true, ignored);
  while (co_await readable(stream)) {
    if (!capture_available(stream.native_handle(), limit, into)) break;
  }
}

}  // namespace bj
