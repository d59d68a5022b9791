#include "control/template_start.h"

#include <fmt/format.h>
#include <sys/wait.h>

namespace bj {
namespace {

constexpr auto kBetweenChecks = std::chrono::milliseconds(100);

Task<Result<std::shared_ptr<LiveProcess>>> run(ProcessTable& processes, std::string command, std::string tag) {
  ProcessSpec process;
  process.arguments = {"/bin/bash", "-l", "-c", std::move(command)};
  LiveProcessOptions options;
  options.tag = std::move(tag);
  co_return co_await processes.start(std::move(process), std::move(options));
}

std::string ending(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

}  // namespace

// By the warden: no program of the image runs before somebody waits for it with a deadline.
Task<void> make_start_directory(SandboxFiles& files, Template image, std::string maker) {
  if (image.workdir.empty()) co_return;
  const std::string owner = image.account(image.user) ? image.user : std::string();
  const Result<void> made = co_await files.make_directory(image.workdir, maker, Parents::kMustExist, owner);
  if (made || made.error().sys == EEXIST) co_return;
  (void)co_await files.make_directory(image.workdir, maker, Parents::kMake, owner);
}

Task<Result<void>> start_template(ProcessTable& processes, const Template& image, std::chrono::seconds patience) {
  const std::string start = image.start_command, ready = image.ready_command;
  std::shared_ptr<LiveProcess> started;
  if (!start.empty()) {
    BJ_CO_TRY(started, co_await run(processes, start, kStartTag));
  }
  if (ready.empty()) co_return Result<void>();
  const Clock::time_point deadline = Clock::now() + patience;
  const auto not_in_time = [patience] {
    return fail(Code::kUnavailable,
                fmt::format("the template's ready command did not succeed within {} s", patience.count()));
  };
  asio::steady_timer pause(co_await asio::this_coro::executor);
  for (;;) {
    BJ_CO_TRY(const std::shared_ptr<LiveProcess> check, co_await run(processes, ready, ""));
    if (!co_await check->ended_by(deadline)) co_return not_in_time();
    if (check->exit() && check->exit()->status == 0) co_return Result<void>();
    if (!check->exit()) co_return fail(Code::kUnavailable, "the sandbox ended before it was ready");
    // One that ends well may have left others behind that make it ready; one that fails never will.
    if (started && started->exit() && started->exit()->status != 0)
      co_return fail(Code::kUnavailable, "the template's start command failed: " + ending(started->exit()->status));
    if (Clock::now() >= deadline) co_return not_in_time();
    pause.expires_after(kBetweenChecks);
    (void)co_await expired(pause);
  }
}

}  // namespace bj
