// What commands do to sandboxes, and how the queue is kept.
#include <algorithm>
#include <boost/json/serialize.hpp>

#include "base/compact_id.h"
#include "base/log.h"
#include "control/backoff.h"
#include "control/git_checkout.h"
#include "control/repeated_request.h"
#include "control/sandbox_manager.h"
#include "control/sandbox_steps.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kOver = "the sandbox is over";

// What a command begins, where that is a change of state; and what it leads to.
struct Kind {
  std::optional<LifeEvent> begins;
  LifeEvent needs;  // must be possible when it is asked for
};

std::optional<Kind> kind_of(const std::string& name) {
  if (name == "pause") return Kind{{}, LifeEvent::kPause};
  if (name == "resume") return Kind{{}, LifeEvent::kResume};
  if (name == "stop" || name == "delete") return Kind{LifeEvent::kStop, LifeEvent::kStop};
  if (name == "start") return Kind{LifeEvent::kStart, LifeEvent::kStart};
  if (name == "rollback") return Kind{LifeEvent::kRollback, LifeEvent::kRollback};
  return std::nullopt;
}

// Who makes it does not matter: a sandbox that is no more, or not yet.
bool anybody_may(const std::string& kind) { return kind == "start" || kind == "rollback"; }

bool keeps_files(const CommandRow& command) {
  return command.kind == "stop" && object_of(command.payload).contains("keep");
}

// Whether its sandbox is in between two states until it ends.
bool has_begun(const CommandRow& command) {
  const std::optional<Kind> kind = kind_of(command.kind);
  return command.kind == "create" || (kind && kind->begins && !keeps_files(command));
}

// Its own again, unless whoever resumes it asks for another, or for so much at least.
int64_t resumed_timeout(const SandboxRow& row, const json::object& payload) {
  if (const json::value* const exactly = payload.if_contains("seconds")) return exactly->to_number<int64_t>();
  const json::value* const least = payload.if_contains("at_least");
  return least == nullptr ? row.timeout_s : std::max(row.timeout_s, least->to_number<int64_t>());
}

constexpr auto kLongestRepeat = std::chrono::minutes(2);
constexpr auto kLookAgain = std::chrono::milliseconds(20);

bool is_under_way(const CommandRow& command) { return command.state == "waiting" || command.state == "claimed"; }

Result<json::object> outcome_of(const CommandRow& first) {
  if (first.state == "done") return object_of(first.outcome);
  if (first.state == "dead") return fail(Code::kConflict, "it was tried before, and failed: " + first.outcome);
  return fail(Code::kConflict, "a request with this Idempotency-Key is being carried out");
}

}  // namespace

Task<Result<std::optional<CommandRow>>> SandboxManager::earlier(std::string organization, MaybeText key) {
  if (!key) co_return std::optional<CommandRow>();
  const auto read = [&] { return commands_.by_key(organization, *key); };
  co_return co_await offload(threads_, read);
}

// The first may be carried out by another server: the database tells how it ended.
Task<SandboxManager::Outcome> SandboxManager::repeated(CommandRow first, std::string kind, std::string id,
                                                       json::object payload) {
  if (first.kind != kind || first.subject != id || !asks_for_the_same(object_of(first.payload), payload))
    co_return fail(Code::kConflict, "this Idempotency-Key was used before, for something else");
  asio::steady_timer timer(executor_);
  const auto read = [&] { return commands_.get(first.id); };
  for (const auto until = Clock::now() + kLongestRepeat; is_under_way(first) && Clock::now() < until && !stopping_;) {
    timer.expires_after(kLookAgain);
    (void)co_await expired(timer);
    BJ_CO_TRY(first, co_await offload(threads_, read));
  }
  co_return outcome_of(first);
}

Result<void> SandboxManager::check_is_here(const SandboxRow& row) const {
  if (!is_live(state_in(row)) || !row.node || *row.node == options_.node) return {};
  return fail(Code::kUnavailable, "the sandbox lives on another server: ask that one");
}

// What must be so when a command comes, and what it begins.
Result<void> SandboxManager::begin(Transaction& transaction, SandboxRow& row, const CommandRow& command) const {
  const SandboxState state = state_in(row);
  const bool ending = state == SandboxState::kStopping;
  BJ_CHECK(check_is_here(row));
  if (object_of(command.payload).contains("expired") &&
      (state != SandboxState::kRunning || row.end_at > command.created_at))
    return fail(Code::kConflict, "its time is not over: it was given more, or paused, meanwhile");
  const bool over = command.kind == "delete" && (ending || !is_live(state));
  const bool files_alone = (command.kind == "snapshot" || command.kind == "fork") && row.kept;
  if (const std::optional<Kind> known = kind_of(command.kind); known && !over) {
    if (command.kind == "start" && state == SandboxState::kStopped && !row.kept)
      return fail(Code::kConflict, "the sandbox is stopped and its files were not kept: " + row.reason);
    BJ_CHECK(after(state, known->needs));
    if (known->begins && !is_live(state)) BJ_CHECK(SandboxTable::check_room(transaction, row, options_.quota));
    if (known->begins && !keeps_files(command)) BJ_CHECK(step(row, *known->begins, "", command.created_at));
    if (anybody_may(command.kind)) row.node = options_.node;
    if (command.kind == "rollback") {
      row.image = object_of(command.payload).at("image").as_string();
      row.kept = true;
      row.spare_image.clear();
    }
  } else if (!over && !files_alone && (ending || !is_live(state))) {
    return fail(Code::kConflict, "the sandbox is " + row.state);
  }
  BJ_CHECK(CommandTable::insert(transaction, command));
  return {};
}

// Puts the command and the state that it begins into the database together, then does it. A key that was used before
// yields what came of it then.
Task<SandboxManager::Outcome> SandboxManager::perform(Actor actor, std::string id, std::string kind,
                                                      json::object payload, MaybeText idempotency_key) {
  BJ_CO_TRY(std::optional<CommandRow> first, co_await earlier(actor.organization, idempotency_key));
  if (first) co_return co_await repeated(std::move(*first), kind, id, payload);
  Work work;
  work.actor = actor;
  CommandRow& command = work.command;
  command.id = new_compact_id("cmd");
  command.organization = actor.organization;
  command.kind = kind;
  command.subject = id;
  command.payload = json::serialize(payload);
  command.idempotency_key = std::move(idempotency_key);
  command.state = "claimed";
  if (!anybody_may(kind)) command.node = options_.node;
  command.claimed_by = options_.node;
  command.lease_until = now() + kLease;
  command.attempts = 1;
  command.created_at = now();
  const auto start = [&](Transaction& transaction, SandboxRow& row) -> Result<void> {
    if (command.idempotency_key) {
      BJ_TRY(first, CommandTable::find_by_key(transaction, row.organization, *command.idempotency_key));
      if (first) return fail(Code::kConflict, "this Idempotency-Key was used before");
    }
    return begin(transaction, row, command);
  };
  // Nobody hears of it before what ends it is on the disk, and that takes this along.
  Result<SandboxRow> row = co_await change(actor.organization, id, start, Durability::kWithTheNext);
  if (first) co_return co_await repeated(std::move(*first), kind, id, payload);  // it came at the same time
  if (!row) co_return tl::unexpected(row.error());
  work.row = std::move(*row);
  co_return co_await work_on(std::move(work));
}

Task<SandboxManager::Outcome> SandboxManager::work_on(Work work) {
  const CommandRow command = work.command;
  const Actor actor = work.actor;
  const SandboxRow row = work.row;
  Outcome outcome = co_await carry_out(std::move(work));
  const Claim claim{command.id, options_.node};
  if (!outcome) {
    const std::string why = outcome.error().what;
    const std::optional<int64_t> pause = pause_before_retry(outcome.error(), command.attempts);
    if (pause && !stopping_) {
      const bool first = command.attempts == 1;  // else somebody else waits for it, or nobody
      const auto waiter = std::make_shared<OneShot<Outcome>>(executor_);
      if (first) waiting_[command.id] = {row.id, waiter, false};
      if (const auto waiting = waiting_.find(command.id); waiting != waiting_.end()) waiting->second.here = false;
      const auto retry = [&] { return commands_.retry(claim, why, now() + *pause); };
      const Result<void> given_back = co_await offload(threads_, retry);
      if (given_back && !first) co_return outcome;
      if (given_back) {
        Result<Outcome> later = co_await waiter->get();
        waiting_.erase(command.id);
        co_return later ? std::move(*later) : std::move(outcome);
      }
      if (first) waiting_.erase(command.id);
    }
    // What began something else is ended by the next tick(), unless its end is written: then it stays as it is.
    Result<void> buried = fail(Code::kUnavailable, why);
    const auto bury = [&] { return commands_.bury(claim, why, now()); };
    if (!has_begun(command)) buried = co_await offload(threads_, bury);
    if (!buried && buried.error().code != Code::kConflict) {
      unsettled_.push_back(command);
      unsettled_.back().outcome = why;
    }
    log_warning("sandbox_command_failed", {{"sandbox", row.id}, {"kind", command.kind}, {"why", why}});
  }
  receipt(actor, "sandbox." + command.kind, row, outcome ? "success" : "error",
          outcome ? json::object() : json::object{{"error", outcome.error().what}});
  if (const auto waiter = waiting_.find(command.id); waiter != waiting_.end()) waiter->second.outcome->set(outcome);
  co_return outcome;
}

// The database did not take how it ended, a full disk, say: what it began would stay in between two states, and the
// command this server's for ever.
Task<void> SandboxManager::settle_claims() {
  const std::vector<CommandRow> unsettled = std::exchange(unsettled_, {});
  for (const CommandRow& command : unsettled) {
    const auto settle = [&] {
      const Claim claim{command.id, options_.node};
      return has_begun(command) ? commands_.retry(claim, command.outcome, now())
                                : commands_.bury(claim, command.outcome, now());
    };
    const Result<void> settled = co_await offload(threads_, settle);
    if (!settled && settled.error().code != Code::kConflict) unsettled_.push_back(command);
  }
}

// Ends that were seen and could not be written.
Task<void> SandboxManager::settle_ends() {
  const std::vector<SandboxRow> unwritten = std::exchange(unwritten_, {});
  for (const SandboxRow& row : unwritten) co_await write_end(row);
}

// One that anybody may do, another server may have done.
Task<void> SandboxManager::hear_of_others() {
  std::vector<std::string> elsewhere;
  for (const auto& [command, waiting] : waiting_) {
    if (!waiting.here) elsewhere.push_back(command);
  }
  for (const std::string& id : elsewhere) {
    const auto read = [&] { return commands_.get(id); };
    const Result<CommandRow> row = co_await offload(threads_, read);
    const auto waiting = waiting_.find(id);
    if (waiting == waiting_.end() || waiting->second.here || !row || is_under_way(*row)) continue;
    waiting->second.outcome->set(outcome_of(*row));
  }
}

Task<SandboxManager::Outcome> SandboxManager::carry_out(Work work) {
  const std::string& kind = work.command.kind;
  if (kind == "create") return make(std::move(work));
  if (kind == "pause") return freeze(std::move(work));
  if (kind == "resume") return thaw(std::move(work));
  if (kind == "timeout") return move_end(std::move(work));
  if (kind == "start") return start_again(std::move(work));
  if (kind == "rollback") return roll_back(std::move(work));
  if (kind == "snapshot") return take_snapshot(std::move(work));
  if (kind == "fork") return fork_off(std::move(work));
  if (keeps_files(work.command)) return end_with_files(std::move(work));
  return end(std::move(work));
}

Task<Result<SandboxRow>> SandboxManager::change(std::string organization, std::string id, SandboxTable::Edit edit,
                                                Durability durability) {
  std::vector<std::string> released;
  uint64_t order = 0;
  // Which layers it uses is written with what refers to them.
  const auto tracked = [&](Transaction& transaction, SandboxRow& row) -> Result<void> {
    const std::vector<std::string> before = layers_of(row);
    BJ_CHECK(edit(transaction, row));
    order = ++changes_;  // the row is this transaction's until it commits
    const std::vector<std::string> now_used =
        state_in(row) == SandboxState::kDeleted ? std::vector<std::string>() : layers_of(row);
    released.clear();
    for (const std::string& layer : before) {
      if (std::find(now_used.begin(), now_used.end(), layer) == now_used.end()) released.push_back(layer);
    }
    if (before == now_used) return {};
    return LayerTable::set_uses(transaction, row.id, now_used);
  };
  const auto write = [&] { return sandboxes_.change(organization, id, tracked, durability); };
  BJ_CO_TRY(SandboxRow row, co_await offload(threads_, write));
  if (const auto found = held_.find(id); found != held_.end()) found->second->learn(row, order);
  if (!released.empty()) run([this, released] { return collect(released); });
  co_return row;
}

Task<Result<SandboxRow>> SandboxManager::conclude(const Work& work, LifeEvent event, std::string reason,
                                                  std::string outcome) {
  const int64_t time = now();
  const auto edit = [&](Transaction& transaction, SandboxRow& row) -> Result<void> {
    BJ_CHECK(step(row, event, reason, time));
    if (event == LifeEvent::kResume) row.spare_image.clear();
    if (event == LifeEvent::kStarted || event == LifeEvent::kResume) {
      if (event == LifeEvent::kStarted) row.started_at = time;
      row.node = options_.node;
      if (event == LifeEvent::kResume) row.timeout_s = resumed_timeout(row, object_of(work.command.payload));
      row.end_at = time + row.timeout_s * kSecond;
    }
    if (event == LifeEvent::kFailed || (event == LifeEvent::kEnded && anybody_may(work.command.kind)))
      return CommandTable::bury(transaction, {work.command.id, options_.node}, reason, time);
    return CommandTable::finish(transaction, {work.command.id, options_.node}, outcome, time);
  };
  co_return co_await change(work.row.organization, work.row.id, edit);
}

Task<SandboxManager::Outcome> SandboxManager::make(Work work) {
  const auto read = [&]() -> Result<SandboxEnvironment> {
    BJ_TRY(const std::vector<VariableRow> rows, sandboxes_.variables(work.row.organization, work.row.id));
    SandboxEnvironment environment;
    for (const VariableRow& row : rows) environment[row.key] = row.value.reveal();
    return environment;
  };
  Result<SandboxEnvironment> known =
      work.environment ? Result<SandboxEnvironment>(std::move(*work.environment)) : co_await offload(threads_, read);
  BJ_CO_TRY(SandboxEnvironment environment, std::move(known));
  const std::string stamp = network_stamp(work.row.organization);  // not newer than what it will have
  Result<std::shared_ptr<LiveSandbox>> live = co_await host_.create(work.row, std::move(environment));
  if (live && (*live)->waits_to_be_ready()) work.turn.leave();  // nobody else need wait for that
  if (const Result<void> ready = live ? co_await (*live)->become_ready() : Result<void>(); !ready) {
    co_await (*live)->destroy();
    live = tl::unexpected(ready.error());
  }
  if (!live) {
    const bool last = !pause_before_retry(live.error(), work.command.attempts);
    // One that was there before is stopped again, with its files.
    const LifeEvent event = work.command.kind == "create" ? LifeEvent::kFailed : LifeEvent::kEnded;
    if (last || stopping_) (void)co_await conclude(work, event, live.error().what, "");
    co_return tl::unexpected(live.error());
  }
  const auto held = std::make_shared<HeldSandbox>(executor_);
  held->live = *live;
  held->network_stamp = stamp;
  held->row = work.row;
  // What is started again has it among its files.
  if (const GitWish git = wishes_of(work.row.options).git; !git.url.empty() && work.command.kind == "create") {
    work.turn.leave();  // a repository may take minutes
    const Result<void> cloned = co_await check_out(held->live, git, held->log, options_.now);
    if (!cloned) {
      co_await held->live->destroy();
      (void)co_await conclude(work, LifeEvent::kFailed, cloned.error().what, "");
      co_return tl::unexpected(cloned.error());
    }
  }
  Result<SandboxRow> row = co_await conclude(work, LifeEvent::kStarted, "", "{}");
  if (!row || stopping_) {  // deleted meanwhile, or taken over by another server
    co_await held->live->destroy();
    if (row) row = fail(Code::kUnavailable, "the server stops");
    co_return tl::unexpected(row.error());
  }
  held->row = *row;
  held->log.add(now(), "info", row->kept ? "started with its files" : "started from template " + row->template_name);
  hold(held);
  co_return json::object();
}

// Two that came together both found it in the state that they need. The second would undo what the first has done.
Task<Result<HeldTurn>> SandboxManager::alone_with(const std::shared_ptr<HeldSandbox>& sandbox, LifeEvent event) {
  if (!co_await sandbox->turn.enter()) co_return fail(Code::kUnavailable, "the server stops");
  HeldTurn turn(sandbox->turn);
  const auto found = held_.find(sandbox->row.id);
  if (found == held_.end() || found->second != sandbox)
    co_return fail(Code::kConflict, "the sandbox ended, or was rolled back, meanwhile");
  BJ_CO_CHECK(after(state_in(sandbox->row), event));
  co_return turn;
}

Task<SandboxManager::Outcome> SandboxManager::freeze(Work work) {
  BJ_CO_TRY(const std::shared_ptr<HeldSandbox> sandbox, co_await held(work.row.organization, work.row.id));
  BJ_CO_TRY(const HeldTurn turn, co_await alone_with(sandbox, LifeEvent::kPause));
  BJ_CO_TRY(const PauseReport report, co_await sandbox->live->pause());
  const json::object outcome{{"memory_before", report.memory_before}, {"memory_after", report.memory_after}};
  const std::string reason(object_of(work.command.payload).contains("expired") ? "its time was over" : "");
  sandbox->live->keep_until(0);  // before the row says so: a paused one has no end
  const Result<SandboxRow> row = co_await conclude(work, LifeEvent::kPause, reason, json::serialize(outcome));
  if (!row) {
    sandbox->live->keep_until(end_without_server(sandbox->row));
    if (state_in(sandbox->row) == SandboxState::kRunning) (void)co_await sandbox->live->resume();
    co_return tl::unexpected(row.error());
  }
  keep_end_of(*sandbox);
  sandbox->log.add(now(), "info", "paused");
  run([this, sandbox] { return keep_spare(sandbox); });
  co_return outcome;
}

Task<SandboxManager::Outcome> SandboxManager::thaw(Work work) {
  BJ_CO_TRY(const std::shared_ptr<HeldSandbox> sandbox, co_await held(work.row.organization, work.row.id));
  BJ_CO_TRY(const HeldTurn turn, co_await alone_with(sandbox, LifeEvent::kResume));
  BJ_CO_CHECK(co_await sandbox->live->resume());
  const Result<SandboxRow> row = co_await conclude(work, LifeEvent::kResume, "", "{}");
  if (!row) {
    if (state_in(sandbox->row) == SandboxState::kPaused) (void)co_await sandbox->live->pause();
    co_return tl::unexpected(row.error());
  }
  keep_end_of(*sandbox);
  sandbox->log.add(now(), "info", "resumed");
  co_return json::object();
}

Task<SandboxManager::Outcome> SandboxManager::move_end(Work work) {
  const json::object payload = object_of(work.command.payload);
  const int64_t seconds = payload.at("seconds").as_int64();
  const bool only_longer = payload.at("only_longer").as_bool();
  const int64_t time = now();
  const auto edit = [&](Transaction& transaction, SandboxRow& row) -> Result<void> {
    const int64_t end = time + seconds * kSecond;
    if (!only_longer || end > row.end_at) {
      row.end_at = end;
      row.timeout_s = std::max<int64_t>(seconds, 1);
    }
    return CommandTable::finish(transaction, {work.command.id, options_.node}, "{}", time);
  };
  const auto found = held_.find(work.row.id);
  const std::shared_ptr<HeldSandbox> sandbox = found == held_.end() ? nullptr : found->second;
  if (sandbox) sandbox->live->keep_until(0);  // until it is known: never too early
  const Result<SandboxRow> row = co_await change(work.row.organization, work.row.id, edit);
  if (sandbox) keep_end_of(*sandbox);  // a pause may have come after it
  if (!row) co_return tl::unexpected(row.error());
  co_return json::object();
}

void SandboxManager::tell_waiting(const std::string& sandbox, const std::string& why, const std::string& ended_by) {
  for (const auto& [command, waiting] : waiting_) {
    if (waiting.sandbox == sandbox && command != ended_by) waiting.outcome->set(Outcome(fail(Code::kConflict, why)));
  }
}

// Its end, and, if that was asked for, its deletion.
Task<SandboxManager::Outcome> SandboxManager::end(Work work) {
  const bool remove = work.command.kind == "delete";
  const std::string id = work.row.id;
  deadlines_.forget(id);
  if (const auto found = held_.find(id); found != held_.end()) {
    const std::shared_ptr<HeldSandbox> sandbox = found->second;
    co_await sandbox->live->destroy();
    held_.erase(id);
  }
  const json::object payload = object_of(work.command.payload);
  const std::string reason(payload.contains("expired") ? "its time was over" : "it was stopped");
  const int64_t time = now();
  const auto edit = [&](Transaction& transaction, SandboxRow& row) -> Result<void> {
    if (is_live(state_in(row))) BJ_CHECK(step(row, LifeEvent::kEnded, reason, time));
    if (remove) BJ_CHECK(step(row, LifeEvent::kDelete, reason, time));
    row.image.clear();
    row.spare_image.clear();
    row.kept = false;
    BJ_CHECK(CommandTable::finish(transaction, {work.command.id, options_.node}, "{}", time));
    return CommandTable::bury_all_of(transaction, row.id, kOver, time);
  };
  BJ_CO_CHECK(co_await change(work.row.organization, id, edit));
  tell_waiting(id, kOver, work.command.id);
  co_return json::object();
}

}  // namespace bj
