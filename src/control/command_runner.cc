#include "control/command_runner.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "base/compact_id.h"
#include "control/sandbox_steps.h"

namespace bj {
namespace {

constexpr auto kLook = std::chrono::seconds(1);
constexpr auto kReceiptsAreWritten = std::chrono::milliseconds(100);

// The program, without its arguments: those may be secrets.
std::string program_of(const LiveProcess& process) { return short_name(process.spec().arguments.front()); }

// What a caller may be told: a failure inside is his, not ours.
tl::unexpected<Error> cannot_start(const ProcessSpec& spec, const Error& error) {
  const bool ours = error.code == Code::kUnavailable || error.code == Code::kInvalid || error.code == Code::kConflict;
  const std::string where = spec.directory.empty() ? "" : " in " + short_name(spec.directory);
  return fail(ours ? error.code : Code::kInvalid,
              "\"" + short_name(spec.arguments.front()) + "\" can't be started" + where + ": " + error.what, error.sys);
}

// Its time does not pass while its sandbox stands still.
Task<void> kill_when_over(std::shared_ptr<asio::steady_timer> timer, std::shared_ptr<HeldSandbox> sandbox,
                          std::shared_ptr<LiveProcess> process, Clock::time_point when) {
  const std::shared_ptr<LiveSandbox> live = sandbox->live;
  Clock::duration still = live->stood_still();
  for (Clock::time_point look = when; !process->over();) {
    timer->expires_at(look);
    (void)co_await expired(*timer);
    if (process->over()) co_return;
    const Clock::duration since = live->stood_still() - still;
    still += since;
    when += since;
    process->note_deadline(when);
    if (Clock::now() >= when) break;
    look = state_in(sandbox->row) == SandboxState::kPaused ? std::max(when, Clock::now() + kLook) : when;
  }
  if (process->over()) co_return;
  process->note_stop("timeout");
  (void)co_await live->processes().signal(process->pid(), SIGKILL);
}

}  // namespace

// As start() has written it down, a line each.
CommandRunner::Origin CommandRunner::origin_of(const LiveProcess& process, const SandboxRow& row) {
  Origin origin{owner_of(row), ""};
  std::istringstream lines(process.origin());
  std::string user, key;
  if (!std::getline(lines, user) || !std::getline(lines, key)) return origin;
  origin.actor.user = user;
  origin.actor.key = key;
  std::getline(lines, origin.run);
  return origin;
}

Task<Result<std::shared_ptr<LiveProcess>>> CommandRunner::start(Actor actor, std::shared_ptr<HeldSandbox> sandbox,
                                                                CommandSpec spec) {
  BJ_CO_CHECK(co_await audit_.admit());
  if (spec.process.arguments.empty()) co_return fail(Code::kInvalid, "no command was given");
  const ProcessSpec asked = spec.process;
  LiveProcessOptions options;
  options.input = spec.input;
  options.tag = std::move(spec.tag);
  const Origin origin{actor, new_compact_id("run")};
  options.origin = actor.user + "\n" + actor.key + "\n" + origin.run;
  auto process = co_await sandbox->live->processes().start(std::move(spec.process), std::move(options));
  if (!process) co_return cannot_start(asked, process.error());
  if (spec.timeout_ms != 0) {
    const Clock::time_point when = Clock::now() + std::chrono::milliseconds(spec.timeout_ms);
    (*process)->note_deadline(when);
    kill_at(sandbox, *process, when);
  }
  sandbox->log.add(now_(), "info", fmt::format("command {} started: {}", (*process)->pid(), program_of(**process)));
  manager_.run(
      [this, origin, sandbox, live = *process] { return see_to_its_end(origin, sandbox, live, Receipt::kNone); });
  co_return *process;
}

void CommandRunner::take_up(const std::shared_ptr<HeldSandbox>& sandbox) {
  for (const std::shared_ptr<LiveProcess>& process : sandbox->live->processes().all()) {
    if (process->was_told()) continue;
    if (!process->over() && process->deadline()) kill_at(sandbox, process, *process->deadline());
    manager_.run([this, origin = origin_of(*process, sandbox->row), sandbox, process] {
      return see_to_its_end(origin, sandbox, process, Receipt::kMayBeWritten);
    });
  }
}

// The timer is cancelled when the process is over first.
void CommandRunner::kill_at(const std::shared_ptr<HeldSandbox>& sandbox, const std::shared_ptr<LiveProcess>& process,
                            Clock::time_point when) {
  const auto timer = std::make_shared<asio::steady_timer>(executor_);
  spawn(executor_, [timer, sandbox, process, when] { return kill_when_over(timer, sandbox, process, when); });
  spawn(executor_, [timer, process]() -> Task<void> {
    co_await process->ended();
    timer->cancel();
  });
}

Task<bool> CommandRunner::is_written(std::string sandbox, std::string run) {
  if (run.empty()) co_return false;
  const auto read = [&] { return receipts_(sandbox); };
  const Result<std::vector<AuditRow>> rows = co_await offload(threads_, read);
  if (!rows) co_return false;
  co_return std::any_of(rows->begin(), rows->end(), [&](const AuditRow& row) {
    const boost::json::object detail = object_of(row.detail);
    const boost::json::value* const found = detail.if_contains("run");
    return found != nullptr && found->is_string() && found->get_string() == run;
  });
}

Task<void> CommandRunner::see_to_its_end(Origin origin, std::shared_ptr<HeldSandbox> sandbox,
                                         std::shared_ptr<LiveProcess> process, Receipt receipt) {
  co_await process->ended();
  // The server that started it may have written its receipt, and not come to note that.
  if (receipt == Receipt::kMayBeWritten && co_await is_written(sandbox->row.id, origin.run)) {
    process->note_told();
    co_return;
  }
  const CommandResult result = result_of(*process);
  sandbox->log.add(now_(), result.exit_status == 0 ? "info" : "warning",
                   fmt::format("command {} ended with status {}", process->pid(), result.exit_status));
  Event event;
  event.kind = EventKind::kCommand;
  event.action = "sandbox.command";
  event.actor = origin.actor;
  event.subject = sandbox->row.id;
  event.outcome = result.timed_out ? "timeout" : result.exit_status == 0 ? "success" : "error";
  event.detail = {{"run", origin.run},
                  {"program", program_of(*process)},
                  {"arguments", process->spec().arguments.size() - 1},
                  {"terminal", process->spec().terminal},
                  {"exit_status", result.exit_status},
                  {"output_bytes", process->output().end()},
                  {"duration_ms", result.duration_ms}};
  audit_.add(event);
  // It is told when it is on the disk; until then whoever goes on with it would tell it again. Soon it is written
  // anyway, with others.
  asio::steady_timer soon(executor_, kReceiptsAreWritten);
  (void)co_await expired(soon);
  if (co_await audit_.flush()) process->note_told();
}

CommandResult CommandRunner::result_of(const LiveProcess& process) {
  CommandResult result;
  result.lost = !process.exit();
  const int status = process.exit() ? process.exit()->status : SIGKILL;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.exit_status = result.signal != 0 ? 128 + result.signal : WEXITSTATUS(status);
  result.timed_out = process.stopped_by() == "timeout";
  result.duration_ms = std::chrono::duration<double, std::milli>(process.duration()).count();
  return result;
}

Task<CommandResult> CommandRunner::collect(std::shared_ptr<LiveProcess> process, uint64_t limit_bytes) {
  Captured output, error;
  LiveProcess::Listener listener(process, 0);
  while (const std::optional<OutputPiece> piece = co_await listener.next()) {
    Captured& into = piece->stream == OutputStream::kError ? error : output;
    const uint64_t room = limit_bytes - std::min<uint64_t>(limit_bytes, into.text.size());
    const uint64_t kept = std::min<uint64_t>(room, piece->bytes.size());
    into.text.append(piece->bytes, 0, kept);
    into.dropped += piece->bytes.size() - kept;
  }
  CommandResult result = result_of(*process);
  result.output = std::move(output);
  result.error = std::move(error);
  co_return result;
}

}  // namespace bj
