// The load program (bench/load) as the rows about the gate use it: one process outside or inside a sandbox, and the
// lines that it says.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/async.h"
#include "engine/sandbox.h"
#include "sys/program.h"

namespace bj {

using Words = std::vector<std::string>;

// On this host, without a sandbox. Ends with the object.
class HostLoad {
 public:
  static Result<HostLoad> start(const asio::any_io_executor& executor, Words words);

  // What it says first; a failure if that is nothing.
  Task<Result<std::string>> line();

 private:
  HostLoad(const asio::any_io_executor& executor, Program program, Fd input, Fd output);

  Program program_;
  Fd input_;
  std::unique_ptr<asio::posix::stream_descriptor> output_;
};

// Inside: put() once, then start().
class SandboxLoad {
 public:
  static Task<Result<void>> put(Sandbox& sandbox);
  static Task<Result<SandboxLoad>> start(std::shared_ptr<Sandbox> sandbox, Words words);

  Task<Result<std::string>> line();
  // Ends what waits for the end of its input.
  Task<void> end();

 private:
  SandboxLoad(const asio::any_io_executor& executor, Process process);

  Process process_;
  std::unique_ptr<asio::posix::stream_descriptor> output_;
};

}  // namespace bj
