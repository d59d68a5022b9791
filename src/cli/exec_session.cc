#include "cli/exec_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/signal_set.hpp>
#include <boost/json/array.hpp>
#include <csignal>
#include <optional>

#include "base/utf8.h"
#include "cli/context.h"
#include "cli/json_output.h"
#include "cli/limit_sentences.h"
#include "cli/network_flag.h"
#include "cli/relay.h"
#include "cli/say.h"
#include "cli/seal_text.h"
#include "cli/sizes.h"
#include "cli/terminal.h"
#include "cli/with_engine.h"
#include "engine/process_watch.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr int kNotExecutable = 126, kNoSuchCommand = 127;
constexpr auto kDrainTime = std::chrono::seconds(1);  // for output of a sandbox that was killed, if nobody reads it

// Copies to a terminal get their control characters shown.
Filter filter_for(int fd) {
  if (::isatty(fd) == 0) return {};
  return [filter = std::make_shared<TerminalFilter>()](std::string_view piece) { return filter->pass(piece); };
}

struct Outcome {
  int status = 0;
  std::vector<std::string> limits_hit;
  Captured output, error;  // with --json
  double duration_ms = 0;
  CgroupUsage used;
};

// Joins a started process to our streams or collects its output; ends with the process.
class Session {
 public:
  Session(const asio::any_io_executor& executor, std::shared_ptr<Sandbox> sandbox, Process process,
          Clock::time_point started)
      : executor_(executor),
        sandbox_(std::move(sandbox)),
        process_(std::move(process)),
        started_(started),
        resized_(executor, SIGWINCH) {}

  Task<Outcome> run(const ExecRequest& request, const Settings& settings) {
    Outcome outcome;
    ProcessWatch watch(executor_, watched(sandbox_));
    std::optional<RawTerminal> raw = join(request, settings, watch);
    const Result<ExitReport> exit = co_await process_.exit->get();
    outcome.duration_ms = std::chrono::duration<double, std::milli>(Clock::now() - started_).count();
    outcome.status = exit ? shell_status(exit->status) : 128 + SIGKILL;
    watch.finish();
    sandbox_->kill();  // what else runs inside holds the streams open
    if (!watch.stopped_by().empty() || co_await interrupted()) give_up_later();
    co_await drain();
    judge(watch, outcome);
    co_return outcome;
  }

 private:
  std::optional<RawTerminal> join(const ExecRequest& request, const Settings& settings, ProcessWatch& watch) {
    std::optional<RawTerminal> raw;
    if (request.terminal) {
      follow_size();
      Result<RawTerminal> entered = RawTerminal::enter(STDIN_FILENO, request.input ? RawMode::kAll : RawMode::kOutput);
      if (entered) raw.emplace(std::move(*entered));
      if (request.input) input_ = std::make_unique<Relay>(executor_, STDIN_FILENO, process_.terminal.get());
      outputs_.push_back(std::make_unique<Relay>(executor_, process_.terminal.get(), STDOUT_FILENO));
      return raw;
    }
    if (request.input) {
      join_input();
    } else {
      process_.input.reset();
    }
    if (settings.json) {
      watch.collect(std::move(process_.output), std::move(process_.error));
    } else {
      outputs_.push_back(
          std::make_unique<Relay>(executor_, std::move(process_.output), STDOUT_FILENO, filter_for(STDOUT_FILENO)));
      outputs_.push_back(
          std::make_unique<Relay>(executor_, std::move(process_.error), STDERR_FILENO, filter_for(STDERR_FILENO)));
    }
    return raw;
  }

  // The command sees the end of its input when ours ends.
  void join_input() {
    input_ = std::make_unique<Relay>(executor_, STDIN_FILENO, process_.input.get());
    asio::co_spawn(
        executor_,
        [this]() -> Task<void> {
          co_await input_->ended();
          process_.input.reset();
        },
        [this](const std::exception_ptr&) { input_over_.set(0); });
  }

  void follow_size() {
    set_window_size(process_.terminal.get(), window_size(STDIN_FILENO));
    resized_.async_wait([this](const boost::system::error_code& error, int) {
      if (!error) follow_size();
    });
  }

  void give_up_later() {
    late_.expires_after(kDrainTime);
    late_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      for (const auto& relay : outputs_) relay->stop();
    });
  }

  Task<void> drain() {
    for (const auto& relay : outputs_) co_await relay->ended();
    late_.cancel();
    resized_.cancel();
    if (input_) {
      const bool joined = !process_.terminal.ok();
      input_->stop();
      if (joined) (void)co_await input_over_.get();
    }
  }

  void judge(const ProcessWatch& watch, Outcome& outcome) const {
    outcome.used = sandbox_->usage();
    outcome.limits_hit = watch.limits_hit();
    if (sandbox_->disk_is_full()) outcome.limits_hit.emplace_back("disk");
    outcome.output = watch.output();
    outcome.error = watch.error();
    if (watch.stopped_by() == "wall time") outcome.status = kExitTimeout;
  }

  asio::any_io_executor executor_;
  std::shared_ptr<Sandbox> sandbox_;
  Process process_;
  Clock::time_point started_;
  asio::signal_set resized_;
  asio::steady_timer late_{executor_};
  OneShot<int> input_over_{executor_};
  std::unique_ptr<Relay> input_;
  std::vector<std::unique_ptr<Relay>> outputs_;
};

json::object outcome_json(const Outcome& outcome, const Seal& seal) {
  json::array limits;
  for (const std::string& limit : outcome.limits_hit) limits.emplace_back(limit);
  const char* const status = outcome.status == kExitTimeout ? "timeout" : outcome.status == 0 ? "ok" : "error";
  return {{"status", status},
          {"exit_status", outcome.status},
          {"stdout", valid_utf8(outcome.output.text)},
          {"stderr", valid_utf8(outcome.error.text)},
          {"stdout_dropped", outcome.output.dropped},
          {"stderr_dropped", outcome.error.dropped},
          {"duration_ms", rounded_ms(outcome.duration_ms)},
          {"limits_hit", std::move(limits)},
          {"seal", seal_json(seal)}};
}

// A sentence for each limit that the command ran into, so that "Killed" explains itself.
void explain(const Outcome& outcome, const Limits& limits) {
  for (const std::string& limit : outcome.limits_hit) {
    const uint64_t kills = outcome.used.memory_kills;
    if (limit == "memory") {
      complain(fmt::format("{} killed: the sandbox reached its memory limit of {} (--memory)",
                           kills == 1 ? "a process was" : fmt::format("{} processes were", kills),
                           format_size(limits.memory_bytes)));
    } else if (const std::string sentence = limit_sentence(limit, limits, "the command"); !sentence.empty()) {
      complain(sentence);
    }
  }
}

// Tells what kept the command from running; returns `status`.
int report(const std::string& sentence, int status, bool as_json) {
  if (as_json) {
    const bool usage = status != kExitSandbox;
    json::object out = failed_call_json(usage ? "invalid" : "unavailable", sentence);
    out.erase("return");
    out["exit_status"] = status;
    print_json(out);
  }
  complain(sentence);
  return status;
}

int report(const Error& error, bool as_json) { return report(error.what, status_of(error), as_json); }

int cannot_start(const Error& error, const ExecRequest& request, bool as_json) {
  const bool refused = error.code == Code::kDenied || error.sys == ENOEXEC || error.sys == ENAMETOOLONG;
  const int status = error.code == Code::kNotFound ? kNoSuchCommand
                     : refused                     ? kNotExecutable
                     : error.sys == E2BIG          ? kExitUsage
                                                   : status_of(error);
  return report("\"" + request.command.front() + "\" can't be started: " + error.what, status, as_json);
}

// The directory to start in. A command's failure would not tell whether the directory or the command is missing, so the
// directory is looked at first; without a wish, the template's own and the home may be missing (that of `nobody` is).
Task<Result<std::string>> start_directory(Sandbox& sandbox, std::string wanted) {
  const Account& account = sandbox.account();
  std::vector<std::string> choice{wanted};
  if (wanted.empty()) choice = {sandbox.image().workdir, account.home};
  for (const std::string& directory : choice) {
    if (directory.empty()) continue;
    const Result<Fd> opened = co_await sandbox.warden().open(directory, O_RDONLY | O_DIRECTORY, 0, account.uid,
                                                             account.gid, FileType::kDirectory);
    if (opened) co_return directory;
  }
  if (wanted.empty()) co_return "/";
  co_return fail(Code::kInvalid, "the sandbox has no directory \"" + wanted + "\" that its user may enter (--workdir)");
}

Task<int> execute_in(const asio::any_io_executor& executor, std::shared_ptr<Sandbox> sandbox,
                     const ExecRequest& request, const Settings& settings, const NetworkUse& used) {
  Result<std::string> directory = co_await start_directory(*sandbox, request.directory);
  if (!directory) co_return report(directory.error(), settings.json);
  ProcessSpec spec;
  spec.arguments = request.command;
  spec.directory = std::move(*directory);
  spec.terminal = request.terminal;
  if (request.terminal) {
    const WindowSize size = window_size(STDIN_FILENO);
    spec.rows = size.rows;
    spec.columns = size.columns;
  }
  const auto started = Clock::now();
  Result<Process> process = co_await sandbox->start(std::move(spec));
  if (!process) co_return co_await interrupted() ? kExitFailed : cannot_start(process.error(), request, settings.json);
  Session session(executor, sandbox, std::move(*process), started);
  const Outcome outcome = co_await session.run(request, settings);
  if (co_await interrupted()) co_return kExitFailed;
  if (settings.json) {
    sandbox->close_network();
    json::object out = outcome_json(outcome, sandbox->seal());
    if (!request.network.allows_nothing()) out["network"] = network_use_json(used);
    print_json(out);
  } else {
    explain(outcome, settings.limits);
  }
  co_return outcome.status;
}

}  // namespace

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

Task<int> execute(Engine& engine, ExecRequest request, Settings settings) {
  if (request.terminal && !settings.timeout_given) settings.limits.wall_ms = 0;
  Result<Template> image = engine.templates().find(settings.template_name);
  if (!image) co_return report(image.error(), settings.json);
  SandboxSpec spec;
  spec.image = std::move(*image);
  spec.limits = settings.limits;
  spec.environment = request.environment;
  spec.user = request.user;
  spec.mounts = request.mounts;
  spec.network = request.network;
  spec.credentials = request.credentials;
  const auto used = std::make_shared<NetworkUse>();
  spec.on_network = noting(used, nullptr);
  spec.require_full_seal = settings.require_full_seal;
  Result<std::shared_ptr<Sandbox>> sandbox = co_await engine.create_sandbox(std::move(spec));
  if (!sandbox) co_return co_await interrupted() ? kExitFailed : report(sandbox.error(), settings.json);
  if (!settings.json && !(*sandbox)->seal().full()) complain(seal_warning((*sandbox)->seal()));
  const int status = co_await execute_in(engine.host().executor, *sandbox, request, settings, *used);
  co_await (*sandbox)->destroy();
  if (!settings.json) complain_about_network(*used);
  co_return status;
}

}  // namespace bj
