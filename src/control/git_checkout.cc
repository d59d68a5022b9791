#include "control/git_checkout.h"

#include <csignal>

#include "base/utf8.h"

namespace bj {
namespace {

constexpr auto kLongest = std::chrono::seconds(90);  // less than the lease of the command that makes the sandbox
constexpr size_t kKept = 16 << 10;
constexpr size_t kTold = 500;

ProcessSpec clone_of(const GitWish& git) {
  ProcessSpec spec;
  spec.arguments = {"git",
                    "-c",
                    "protocol.allow=never",
                    "-c",
                    "protocol.http.allow=always",
                    "-c",
                    "protocol.https.allow=always",
                    "clone",
                    "--quiet"};
  if (!git.branch.empty()) spec.arguments.insert(spec.arguments.end(), {"--branch", git.branch});
  spec.arguments.insert(spec.arguments.end(), {"--", git.url});
  if (!git.path.empty()) spec.arguments.push_back(git.path);
  spec.environment["GIT_TERMINAL_PROMPT"] = "0";
  return spec;
}

Task<std::string> words_of(std::shared_ptr<LiveProcess> process) {
  std::string words;
  LiveProcess::Listener listener(process, 0);
  while (const std::optional<OutputPiece> piece = co_await listener.next()) {
    words += piece->bytes;
    if (words.size() > 2 * kKept) words.erase(0, words.size() - kKept);
  }
  co_return valid_utf8(words);
}

void log_lines(SandboxLog& log, int64_t time, const std::string& words) {
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find('\n', at), words.size());
    if (end > at) log.add(time, "info", "git: " + words.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace

Task<Result<void>> check_out(std::shared_ptr<LiveSandbox> sandbox, GitWish git, SandboxLog& log,
                             std::function<int64_t()> now) {
  auto started = co_await sandbox->processes().start(clone_of(git), {});
  if (!started) co_return fail(Code::kInvalid, "git can't be started in this template: " + started.error().what);
  const std::shared_ptr<LiveProcess> process = *started;
  asio::steady_timer limit(co_await asio::this_coro::executor, kLongest);
  limit.async_wait([sandbox, process, executor = limit.get_executor()](const boost::system::error_code& error) {
    if (error) return;
    spawn(executor, [sandbox, process]() -> Task<void> {
      process->note_stop("timeout");
      (void)co_await sandbox->processes().signal(process->pid(), SIGKILL);
    });
  });
  const std::string words = co_await words_of(process);
  limit.cancel();
  log_lines(log, now(), words);
  if (process->exit() && process->exit()->status == 0) {
    log.add(now(), "info", "the repository was cloned");
    co_return Result<void>();
  }
  const std::string why = process->stopped_by() == "timeout" ? "it took longer than 90 s"
                          : words.size() > kTold             ? words.substr(words.size() - kTold)
                                                             : words;
  co_return fail(Code::kInvalid, "the repository could not be cloned: " + why);
}

}  // namespace bj
