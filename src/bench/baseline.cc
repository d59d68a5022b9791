#include "bench/baseline.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/program.h"

namespace bj {

Task<Result<double>> spawn_and_wait(asio::any_io_executor executor, std::vector<std::string> arguments) {
  ProgramSpec spec;
  spec.path = arguments[0];
  spec.arguments = arguments;
  spec.environment.emplace();
  const Stopwatch watch;
  BJ_CO_TRY(Program program, Program::start(spec));
  asio::posix::stream_descriptor pidfd(executor, static_cast<int>(::syscall(SYS_pidfd_open, program.pid(), 0)));
  co_await readable(pidfd);
  BJ_CO_TRY(const int status, program.wait());
  const double ms = watch.ms();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) co_return fail(Code::kUnavailable, arguments[0] + " failed");
  co_return ms;
}

}  // namespace bj
