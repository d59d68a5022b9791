#include "control/sandbox_manager.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <thread>

#include "base/compact_id.h"
#include "base/log.h"
#include "control/repeated_request.h"
#include "control/sandbox_steps.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr auto kLongestSleep = std::chrono::seconds(1);  // clocks of machines jump
constexpr int64_t kBetweenForgetting = 3600 * kSecond;
constexpr int64_t kMostClaims = 10;
constexpr const char* kHopeless = "it was begun ten times, and never came to its end";
constexpr const char* kEndedByItself = "the sandbox ended by itself";
constexpr size_t kMostMetadata = 64;
constexpr size_t kLongestText = 4096;
constexpr size_t kMostVariables = 1000;
constexpr size_t kMostEnvironment = 128 << 10;  // beside it a process has its arguments, the template's and its own
constexpr int64_t kShortestWake = 300;          // seconds that a request gives a sandbox it woke

// It never came to its end, as often as it was begun: it may be what servers die of. But an end must come.
bool is_hopeless(const CommandRow& command) {
  return command.attempts > kMostClaims && command.kind != "stop" && command.kind != "delete";
}

tl::unexpected<Error> invalid(std::string sentence) { return fail(Code::kUnprocessable, std::move(sentence)); }

Result<void> check_texts(const std::map<std::string, std::string>& texts, size_t most, const char* what) {
  if (texts.size() > most) return invalid(std::string(what) + " may have " + std::to_string(most) + " entries");
  for (const auto& [key, value] : texts) {
    const bool sound = !key.empty() && key.size() <= kLongestText && key.find('\0') == std::string::npos &&
                       value.find('\0') == std::string::npos;
    if (!sound) return invalid(std::string(what) + " holds an empty or over-long name, or a NUL character");
  }
  return {};
}

Result<void> check_environment(const SandboxEnvironment& environment) {
  BJ_CHECK(check_texts(environment, kMostVariables, "env"));
  size_t size = 0;
  for (const auto& [name, value] : environment) {
    if (name.find('=') != std::string::npos) return invalid("env holds a name with \"=\" in it");
    size += name.size() + value.size() + 2;
  }
  if (size <= kMostEnvironment) return {};
  return invalid("env may have " + std::to_string(kMostEnvironment >> 10) + " KiB together");
}

template <class T>
Result<T> within(std::optional<T> given, T usual, T least, T most, const char* what) {
  const T value = given.value_or(usual);
  if (value >= least && value <= most) return value;
  return invalid(std::string(what) + " must be from " + std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

SandboxManager::SandboxManager(const asio::any_io_executor& executor, Store& store, asio::thread_pool& threads,
                               AuditLog& audit, SandboxHost& host, TemplateCatalog& templates, ManagerOptions options)
    : executor_(executor),
      threads_(threads),
      audit_(audit),
      host_(host),
      options_(std::move(options)),
      sandboxes_(store.database(), store.vault()),
      commands_(store.database()),
      layers_(store.database()),
      policies_(store.database()),
      templates_(templates),
      network_turn_(executor),
      create_turns_(executor, size_t{2} * std::max(1U, std::thread::hardware_concurrency())),
      wake_(executor),
      tending_(executor),
      idle_(executor) {}

void SandboxManager::run(std::function<Task<void>()> work) {
  ++running_;
  spawn(executor_, [this, work = std::move(work)]() -> Task<void> {
    co_await work();
    --running_;
    idle_.tell();
  });
}

Result<SandboxRow> SandboxManager::row_of(const Actor& actor, const NewSandbox& wanted) const {
  constexpr int64_t kMiB = 1 << 20;
  const Limits& usual = options_.limits;
  SandboxRow row;
  row.id = new_compact_id("sb");
  row.organization = actor.organization;
  if (!actor.user.empty()) row.user = actor.user;
  if (!actor.key.empty()) row.key = actor.key;
  row.template_name = wanted.template_name;
  row.state = state_name(SandboxState::kCreating);
  row.node = options_.node;
  row.on_timeout = wanted.on_timeout;
  if (row.on_timeout != "kill" && row.on_timeout != "pause" && row.on_timeout != "stop")
    return invalid("on_timeout must be kill, pause or stop");
  row.image = wanted.image;
  BJ_TRY(row.timeout_s, within<int64_t>(wanted.timeout_s, options_.usual_timeout_s, 1, options_.longest_timeout_s,
                                        "timeout, in seconds,"));
  row.inside_user = wanted.user;
  BJ_TRY(row.cpus, within<double>(wanted.cpus, usual.cpus, 0.01, 4096, "cpus"));
  BJ_TRY(row.memory_bytes, within<int64_t>(wanted.memory_bytes, static_cast<int64_t>(usual.memory_bytes), 16 * kMiB,
                                           int64_t{1} << 40, "memory_bytes"));
  BJ_TRY(row.disk_bytes, within<int64_t>(wanted.disk_bytes, static_cast<int64_t>(usual.disk_bytes), kMiB,
                                         int64_t{1} << 40, "disk_bytes"));
  BJ_TRY(row.processes,
         within<int64_t>(wanted.processes, static_cast<int64_t>(usual.processes), 2, 1 << 20, "processes"));
  BJ_CHECK(check_texts(wanted.metadata, kMostMetadata, "metadata"));
  BJ_CHECK(check_environment(wanted.environment));
  json::object metadata;
  for (const auto& [key, value] : wanted.metadata) metadata[key] = value;
  row.metadata = json::serialize(metadata);
  row.network = wanted.network;
  row.credentials = json::serialize(json::array(wanted.credentials.begin(), wanted.credentials.end()));
  row.options = wishes_text(wanted.wishes);
  row.access = wanted.access;
  row.wakes = wanted.wakes;
  row.details = wanted.details;
  row.created_at = now();
  row.end_at = row.created_at + row.timeout_s * kSecond;
  return row;
}

Task<Result<void>> SandboxManager::check_wishes(const Actor& actor, SandboxWishes& wishes) {
  BJ_CO_CHECK(check_git_wish(wishes.git));
  if (wishes.volumes.empty()) co_return Result<void>();
  if (!options_.find_volumes) co_return fail(Code::kUnavailable, "there are no volumes here");
  co_return co_await options_.find_volumes(actor.organization, wishes.volumes);
}

void SandboxManager::extend(const std::shared_ptr<HeldSandbox>& held) {
  if (held->row.options == "{}" || !wishes_of(held->row.options).extend_on_activity) return;
  const int64_t end = now() + held->row.timeout_s * kSecond;
  if (end < held->row.end_at + kSecond) return;  // it was moved less than a second ago
  held->row.end_at = end;
  keep_end_of(*held);
  run([this, held, end]() -> Task<void> {
    const auto edit = [end](Transaction&, SandboxRow& row) -> Result<void> {
      if (state_in(row) == SandboxState::kRunning) row.end_at = std::max(row.end_at, end);
      return {};
    };
    (void)co_await change(held->row.organization, held->row.id, edit);
  });
}

Task<Result<SandboxRow>> SandboxManager::create(Actor actor, NewSandbox wanted) {
  if (stopping_) co_return fail(Code::kUnavailable, "the server stops");
  BJ_CO_TRY(const json::object payload, payload_of_create(wanted));  // before names become what they mean now
  BJ_CO_CHECK(co_await check_wishes(actor, wanted.wishes));
  BJ_CO_CHECK(co_await resolve_template(actor.organization, wanted));
  // A burst is served in its order: the first have their sandbox, and what they ask of it, while the last still wait.
  if (!co_await create_turns_.enter()) co_return fail(Code::kUnavailable, "the server stops");
  HeldTurn turn(create_turns_);
  if (stopping_) co_return fail(Code::kUnavailable, "the server stops");
  BJ_CO_TRY(const SandboxRow row, row_of(actor, wanted));
  const Result<void> sound = co_await host_.check(row);
  if (!sound) {
    const bool asked_wrong = sound.error().code == Code::kInvalid || sound.error().code == Code::kNotFound;
    co_return fail(asked_wrong ? Code::kUnprocessable : sound.error().code, sound.error().what);
  }
  Work work;
  work.actor = actor;
  work.row = row;
  work.environment = wanted.environment;
  work.turn = std::move(turn);
  CommandRow& command = work.command;
  command.id = new_compact_id("cmd");
  command.organization = actor.organization;
  command.kind = "create";
  command.payload = json::serialize(payload);
  command.subject = row.id;
  command.idempotency_key = wanted.idempotency_key;
  command.state = "claimed";
  command.claimed_by = options_.node;
  command.lease_until = now() + kLease;
  command.attempts = 1;
  command.created_at = row.created_at;
  const auto insert = [&]() -> Result<SandboxTable::Made> {
    std::vector<NewVariable> variables;
    for (const auto& [key, value] : wanted.environment) variables.push_back({key, Secret(value), {}});
    std::vector<std::string> volumes;
    for (const VolumeWish& volume : wanted.wishes.volumes) volumes.push_back(volume.id);
    return sandboxes_.create(actor, row, wanted.metadata, variables, layers_of(row), options_.quota, command, volumes);
  };
  BJ_CO_TRY(SandboxTable::Made made, co_await offload(threads_, insert));
  if (made.first) {
    work.turn.leave();
    BJ_CO_CHECK(co_await repeated(std::move(*made.first), "create", made.row.id, payload));
    co_return co_await get(actor.organization, made.row.id);
  }
  BJ_CO_CHECK(co_await work_on(std::move(work)));
  co_return co_await get(actor.organization, row.id);
}

Task<Result<SandboxRow>> SandboxManager::get(std::string organization, std::string id) {
  const auto found = held_.find(id);
  if (found != held_.end() && found->second->row.organization == organization) co_return found->second->row;
  const auto read = [&] { return sandboxes_.get(organization, id); };
  co_return co_await offload(threads_, read);
}

Task<Result<std::vector<SandboxRow>>> SandboxManager::list(std::string organization, SandboxFilter filter, Page page) {
  const auto read = [&] { return sandboxes_.list(organization, filter, page); };
  co_return co_await offload(threads_, read);
}

Task<Result<SandboxShare>> SandboxManager::used(std::string organization) {
  const auto read = [&]() -> Result<SandboxShare> {
    BJ_TRY(SandboxShare share, sandboxes_.used(organization));
    BJ_TRY(share.stored_bytes, layers_.stored_bytes(organization));
    return share;
  };
  co_return co_await offload(threads_, read);
}

Task<Result<std::shared_ptr<HeldSandbox>>> SandboxManager::held(std::string organization, std::string id) {
  const auto found = held_.find(id);
  if (found != held_.end() && found->second->row.organization == organization) co_return found->second;
  BJ_CO_TRY(const SandboxRow row, co_await get(std::move(organization), id));
  if (is_live(state_in(row)) && row.node && *row.node != options_.node)
    co_return fail(Code::kUnavailable, "the sandbox lives on another server");
  const bool startable = state_in(row) == SandboxState::kStopped && row.kept;
  co_return fail(Code::kConflict, "the sandbox is " + row.state + (row.reason.empty() ? "" : ": " + row.reason) +
                                      (startable ? "; its files are kept, start it first" : ""));
}

Task<Result<std::shared_ptr<HeldSandbox>>> SandboxManager::running(std::string organization, std::string id) {
  BJ_CO_TRY(std::shared_ptr<HeldSandbox> sandbox, co_await held(std::move(organization), std::move(id)));
  if (state_in(sandbox->row) != SandboxState::kRunning)
    co_return fail(Code::kConflict, "the sandbox is " + sandbox->row.state + ": resume it first");
  extend(sandbox);
  co_return sandbox;
}

Task<Result<std::shared_ptr<HeldSandbox>>> SandboxManager::for_traffic(std::string id) {
  auto found = held_.find(id);
  const auto gone = [] { return fail(Code::kNotFound, "The sandbox was not found"); };
  if (found == held_.end()) co_return gone();
  if (state_in(found->second->row) == SandboxState::kPaused && found->second->row.wakes) {
    (void)co_await perform(owner_of(found->second->row), id, "resume", {{"at_least", kShortestWake}});
    found = held_.find(id);
  }
  if (found == held_.end() || state_in(found->second->row) != SandboxState::kRunning) co_return gone();
  co_return found->second;
}

Task<Result<SandboxRow>> SandboxManager::set_access(Actor actor, std::string id, std::string access) {
  const auto edit = [&](Transaction&, SandboxRow& row) -> Result<void> {
    BJ_CHECK(check_is_here(row));  // another server would not hear of it
    row.access = access;
    return {};
  };
  BJ_CO_TRY(const SandboxRow row, co_await change(actor.organization, id, edit));
  receipt(actor, "sandbox.access", row, "success", {{"access", access}});
  co_return row;
}

Task<Result<SandboxRow>> SandboxManager::set_network(Actor actor, std::string id, std::string network,
                                                     std::string details) {
  if (!co_await network_turn_.enter()) co_return fail(Code::kUnavailable, "the server is ending");
  const HeldTurn turn(network_turn_);
  co_return co_await set_network_in_turn(actor, id, network, details);
}

Task<Result<SandboxRow>> SandboxManager::set_network_in_turn(Actor actor, std::string id, std::string network,
                                                             std::string details) {
  BJ_CO_TRY(const std::shared_ptr<HeldSandbox> sandbox, co_await running(actor.organization, id));
  SandboxRow wanted = sandbox->row;
  wanted.network = network;
  wanted.details = details;
  if (details != sandbox->row.details) {
    BJ_CO_CHECK(co_await host_.check_credentials(wanted));
  }
  BJ_CO_CHECK(co_await host_.change_network(wanted, *sandbox->live));
  const auto edit = [&](Transaction&, SandboxRow& row) -> Result<void> {
    row.network = network;
    row.details = details;
    return {};
  };
  BJ_CO_TRY(const SandboxRow row, co_await change(actor.organization, id, edit));
  sandbox->log.add(now(), "info", "its network was changed");
  json::error_code bad;
  receipt(actor, "sandbox.network", row, "success", {{"policy", json::parse(network, bad)}});
  co_return row;
}

Task<Result<SandboxRow>> SandboxManager::set_timeout(Actor actor, std::string id, int64_t seconds, TimeoutRule rule,
                                                     MaybeText key) {
  BJ_CO_CHECK(within<int64_t>(seconds, 0, 0, options_.longest_timeout_s, "timeout, in seconds,"));
  BJ_CO_CHECK(co_await perform(
      actor, id, "timeout", {{"seconds", seconds}, {"only_longer", rule == TimeoutRule::kOnlyLonger}}, std::move(key)));
  co_return co_await get(actor.organization, id);
}

Task<Result<PauseReport>> SandboxManager::pause(Actor actor, std::string id, PauseKeeps keeps, MaybeText key) {
  if (keeps == PauseKeeps::kFiles) {
    BJ_CO_TRY(const std::optional<CommandRow> first, co_await earlier(actor.organization, key));
    PauseReport report;
    if (!first) {
      BJ_CO_TRY(const std::shared_ptr<HeldSandbox> sandbox, co_await held(actor.organization, id));
      BJ_CO_TRY(const SandboxMetrics metrics, co_await sandbox->live->metrics());
      report.memory_before = metrics.memory_bytes;
    }
    BJ_CO_CHECK(co_await stop_keeping_files(std::move(actor), std::move(id), std::move(key)));
    co_return report;
  }
  BJ_CO_TRY(const json::object outcome, co_await perform(std::move(actor), std::move(id), "pause", {}, std::move(key)));
  PauseReport report;
  report.memory_before = outcome.at("memory_before").to_number<uint64_t>();
  report.memory_after = outcome.at("memory_after").to_number<uint64_t>();
  co_return report;
}

Task<Result<Resumed>> SandboxManager::resume(Actor actor, std::string id, std::optional<int64_t> timeout_s,
                                             MaybeText key) {
  json::object payload;
  if (timeout_s) {
    BJ_CO_TRY(payload["seconds"], within<int64_t>(timeout_s, 0, 1, options_.longest_timeout_s, "timeout, in seconds,"));
  }
  BJ_CO_TRY(const SandboxRow before, co_await get(actor.organization, id));
  BJ_CO_TRY(const std::optional<CommandRow> first, co_await earlier(actor.organization, key));
  const bool cold = first ? first->kind == "start" : state_in(before) == SandboxState::kStopped;
  BJ_CO_CHECK(co_await perform(actor, id, cold ? "start" : "resume", std::move(payload), std::move(key)));
  BJ_CO_TRY(SandboxRow row, co_await get(actor.organization, id));
  co_return Resumed{std::move(row), cold};
}

Task<Result<void>> SandboxManager::remove(Actor actor, std::string id, MaybeText key) {
  BJ_CO_CHECK(co_await perform(std::move(actor), std::move(id), "delete", {}, std::move(key)));
  co_return Result<void>();
}

// Tells of one that ended without being asked to.
Task<void> SandboxManager::watch(std::shared_ptr<HeldSandbox> held) {
  ++watching_;
  co_await held->live->ended();
  --watching_;
  const std::string id = held->row.id;
  const auto found = held_.find(id);  // or another of its lives
  const bool unasked =
      !stopping_ && found != held_.end() && found->second == held && state_in(held->row) != SandboxState::kStopping;
  if (unasked) {
    held_.erase(id);
    deadlines_.forget(id);
    co_await held->live->destroy();
    tell_waiting(id, kEndedByItself, "");
    receipt(owner_of(held->row), "sandbox.ended", held->row, "success");
    co_await write_end(held->row);
  }
}

Task<void> SandboxManager::write_end(SandboxRow ended) {
  if (held_.contains(ended.id)) co_return;  // it was made anew meanwhile
  const int64_t time = now();
  const auto edit = [&](Transaction& transaction, SandboxRow& row) -> Result<void> {
    const SandboxState state = state_in(row);
    // Whoever ends it, or makes it anew, has begun.
    if (state != SandboxState::kRunning && state != SandboxState::kPaused) return {};
    const std::string reason =
        row.kept ? "it ended by itself; what it wrote since its last start is gone" : "it ended by itself";
    BJ_CHECK(step(row, LifeEvent::kEnded, reason, time));
    return CommandTable::bury_all_of(transaction, row.id, kEndedByItself, time);
  };
  const Result<SandboxRow> row = co_await change(ended.organization, ended.id, edit);
  if (!row && row.error().code != Code::kNotFound) unwritten_.push_back(std::move(ended));
}

Task<void> SandboxManager::expire(std::string id) {
  const auto found = held_.find(id);
  if (found == held_.end()) co_return;
  const SandboxRow row = found->second->row;
  const char* const kind = row.on_timeout == "pause" ? "pause" : "stop";
  json::object payload{{"expired", true}};
  if (row.on_timeout == "stop") payload["keep"] = true;
  const Outcome done = co_await perform(owner_of(row), id, kind, std::move(payload));
  const auto still = held_.find(id);
  if (done || still == held_.end() || stopping_) co_return;
  const SandboxRow& current = still->second->row;
  if (state_in(current) != SandboxState::kRunning || current.end_at > now()) co_return;  // by somebody else meanwhile
  // What can't be paused or kept must not run on: its time is over. What can't be stopped now is tried again.
  if (row.on_timeout != "kill" && co_await perform(owner_of(row), id, "stop", {{"expired", true}})) co_return;
  deadlines_.set(id, now() + kSecond);
}

Task<void> SandboxManager::take_up_work() {
  for (;;) {
    const auto claim = [&] { return commands_.claim(options_.node, options_.node, now(), kLease); };
    Result<std::optional<CommandRow>> next = co_await offload(threads_, claim);
    if (!next || !*next || stopping_) co_return;
    const auto work = std::make_shared<Work>();
    work->command = std::move(**next);
    const auto read = [&] { return sandboxes_.get(work->command.organization, work->command.subject); };
    Result<SandboxRow> row = co_await offload(threads_, read);
    if (!row) {
      const auto bury = [&] { return commands_.bury({work->command.id, options_.node}, row.error().what, now()); };
      (void)co_await offload(threads_, bury);
      continue;
    }
    work->row = std::move(*row);
    work->actor = owner_of(work->row);
    if (const auto waiting = waiting_.find(work->command.id); waiting != waiting_.end()) waiting->second.here = true;
    if (!is_hopeless(work->command)) {
      run([this, work]() -> Task<void> { (void)co_await work_on(std::move(*work)); });
      continue;
    }
    if (state_in(work->row) == SandboxState::kCreating) {
      const LifeEvent event = work->command.kind == "create" ? LifeEvent::kFailed : LifeEvent::kEnded;
      if (!co_await conclude(*work, event, kHopeless, "")) unsettled_.push_back(work->command);
      continue;
    }
    const auto bury = [&] { return commands_.bury({work->command.id, options_.node}, kHopeless, now()); };
    (void)co_await offload(threads_, bury);
  }
}

std::string SandboxManager::network_stamp(const std::string& organization) const {
  const auto found = stamps_.find(organization);
  return found == stamps_.end() ? std::string() : found->second;
}

Task<void> SandboxManager::renew_networks() {
  const auto read = [&] { return policies_.stamps(); };
  Result<std::map<std::string, std::string>> stamps = co_await offload(threads_, read);
  if (!stamps) co_return;  // the next tick asks again
  stamps_ = std::move(*stamps);
  const auto held = held_;
  for (const auto& [id, sandbox] : held) {
    const std::string stamp = network_stamp(sandbox->row.organization);
    if (sandbox->network_stamp == stamp || !co_await network_turn_.enter()) continue;
    const HeldTurn turn(network_turn_);
    const SandboxRow row = sandbox->row;
    co_await host_.renew_network(row, *sandbox->live);
    sandbox->network_stamp = stamp;
  }
}

// A thousand at a time: nobody else writes meanwhile.
Task<void> SandboxManager::forget_old() {
  constexpr int64_t kMost = 1000;
  const int64_t before = now() - kKeepEnded;
  for (int64_t gone = kMost; gone >= kMost && !stopping_;) {
    const auto remove = [&] { return sandboxes_.remove_ended_before(before, kMost); };
    gone = (co_await offload(threads_, remove)).value_or(0);
  }
}

void SandboxManager::end_due() {
  for (const std::string& id : deadlines_.take_due(now())) {
    run([this, id] { return expire(id); });
  }
}

Task<void> SandboxManager::tend() {
  co_await renew_networks();
  co_await settle_ends();
  co_await settle_claims();
  co_await take_up_work();
  co_await hear_of_others();
  if (now() < forget_at_) co_return;
  forget_at_ = now() + kBetweenForgetting;
  co_await forget_old();
}

Task<void> SandboxManager::tick() {
  end_due();
  co_await tend();
}

Task<void> SandboxManager::keep_tending() {
  while (!stopping_) {
    co_await tend();
    tending_.expires_after(kLongestSleep);
    if (stopping_) break;
    ++watching_;
    idle_.tell();
    (void)co_await expired(tending_);
    --watching_;
  }
}

// Apart from all else that comes in its time: an end does not wait for a thousand networks that change.
Task<void> SandboxManager::keep_time() {
  while (!stopping_) {
    end_due();
    const std::optional<int64_t> next = deadlines_.next();
    const auto until_next = std::chrono::microseconds(next ? std::max<int64_t>(*next - now(), 0) : 3600 * kSecond);
    wake_.expires_after(std::min<Clock::duration>(until_next, kLongestSleep));
    if (stopping_) break;
    ++watching_;
    idle_.tell();
    (void)co_await expired(wake_);
    --watching_;
  }
}

Task<void> SandboxManager::settle() {
  while (running_ > watching_) co_await idle_.wait();
}

Task<Result<void>> SandboxManager::start() {
  co_await renew_networks();  // for the stamps of those that are adopted
  BJ_CO_CHECK(co_await reconcile());
  run([this] { return keep_time(); });
  run([this] { return keep_tending(); });
  co_return Result<void>();
}

Task<void> SandboxManager::stop() {
  stopping_ = true;
  for (const auto& [command, waiting] : waiting_) waiting.outcome->close();
  for (const auto& [id, sandbox] : held_) sandbox->live->kill();
  wake_.cancel();
  tending_.cancel();
  const auto held = std::move(held_);
  held_.clear();
  for (const auto& [id, sandbox] : held) co_await sandbox->live->destroy();
  while (running_ > 0) co_await idle_.wait();
  const auto abandon = [&] { return sandboxes_.abandon(options_.node, "the server stopped", now()); };
  const Result<std::vector<SandboxRow>> over = co_await offload(threads_, abandon);
  if (!over) log_error("sandboxes_not_settled", {{"error", over.error().what}});
  for (const SandboxRow& row : over.value_or(std::vector<SandboxRow>()))
    receipt(owner_of(row), "sandbox.stop", row, "success", {{"reason", "the server stopped"}});
}

void SandboxManager::receipt(const Actor& actor, const std::string& action, const SandboxRow& row,
                             const std::string& outcome, json::object detail) {
  Event event;
  event.kind = EventKind::kAdministration;
  event.action = action;
  event.actor = actor;
  event.subject = row.id;
  event.outcome = outcome;
  event.detail = std::move(detail);
  if (action == "sandbox.create") event.detail["template"] = row.template_name;
  audit_.add(event);
}

}  // namespace bj
