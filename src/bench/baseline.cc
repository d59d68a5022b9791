#include "bench/baseline.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bj {

Task<Result<double>> spawn_and_wait(asio::any_io_executor executor, std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd = 0; fd < 3; ++fd) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  const Stopwatch watch;
  pid_t pid = 0;
  char* no_environment[] = {nullptr};
  const int error = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), no_environment);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) co_return fail_with(error, "spawn(" + arguments[0] + ")");
  asio::posix::stream_descriptor pidfd(executor, static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  co_await readable(pidfd);
  int status = 0;
  ::waitpid(pid, &status, 0);
  const double ms = watch.ms();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) co_return fail(Code::kUnavailable, arguments[0] + " failed");
  co_return ms;
}

}  // namespace bj
