#include "bench/load_program.h"

#include <unistd.h>

#include "sys/files.h"
#include "sys/pipe.h"

// Put in by the build (cmake/bench.cmake).
extern "C" {
extern const char belljar_load_begin[], belljar_load_end[];
}

namespace bj {
namespace {

constexpr const char* kInside = "/dev/shm/load";

std::string_view program() { return {belljar_load_begin, static_cast<size_t>(belljar_load_end - belljar_load_begin)}; }

Task<Result<std::string>> first_line(asio::posix::stream_descriptor& from) {
  std::string said;
  char buffer[512];
  while (said.find('\n') == std::string::npos && co_await readable(from)) {
    const ssize_t size = ::read(from.native_handle(), buffer, sizeof buffer);
    if (size <= 0) break;
    said.append(buffer, static_cast<size_t>(size));
  }
  const size_t end = said.find('\n');
  if (end == std::string::npos) co_return fail(Code::kUnavailable, "the load program failed: its error stands above");
  co_return said.substr(0, end);
}

}  // namespace

HostLoad::HostLoad(const asio::any_io_executor& executor, Program program, Fd input, Fd output)
    : program_(std::move(program)),
      input_(std::move(input)),
      output_(std::make_unique<asio::posix::stream_descriptor>(executor, output.release())) {}

Result<HostLoad> HostLoad::start(const asio::any_io_executor& executor, Words words) {
  BJ_TRY(const Fd file, anonymous_file("load", program()));
  BJ_TRY(Pipe input, make_pipe());
  BJ_TRY(Pipe output, make_pipe());
  ProgramSpec spec;
  spec.path = "/proc/self/fd/" + std::to_string(file.get());
  spec.arguments = std::move(words);
  spec.arguments.insert(spec.arguments.begin(), "load");
  spec.input = input.read.get();
  spec.output = output.write.get();
  spec.error = STDERR_FILENO;
  BJ_TRY(Program started, Program::start(spec));
  return HostLoad(executor, std::move(started), std::move(input.write), std::move(output.read));
}

Task<Result<std::string>> HostLoad::line() { co_return co_await first_line(*output_); }

SandboxLoad::SandboxLoad(const asio::any_io_executor& executor, Process process)
    : process_(std::move(process)),
      output_(std::make_unique<asio::posix::stream_descriptor>(executor, process_.output.release())) {}

Task<Result<void>> SandboxLoad::put(Sandbox& sandbox) {
  co_return co_await sandbox.write_file(kInside, std::string(program()), 0755);
}

Task<Result<SandboxLoad>> SandboxLoad::start(std::shared_ptr<Sandbox> sandbox, Words words) {
  ProcessSpec spec;
  spec.arguments = {kInside};
  spec.arguments.insert(spec.arguments.end(), words.begin(), words.end());
  BJ_CO_TRY(Process process, co_await sandbox->start(std::move(spec)));
  co_return SandboxLoad(co_await asio::this_coro::executor, std::move(process));
}

Task<Result<std::string>> SandboxLoad::line() {
  Result<std::string> said = co_await first_line(*output_);
  char why[512];
  if (!said) {
    const ssize_t size = ::read(process_.error.get(), why, sizeof why);
    if (size > 0) co_return fail(Code::kUnavailable, std::string(why, static_cast<size_t>(size)));
  }
  co_return said;
}

Task<void> SandboxLoad::end() {
  process_.input.reset();
  (void)co_await process_.exit->get();
}

}  // namespace bj
