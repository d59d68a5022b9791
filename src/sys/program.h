// A program of this machine as a child of ours, outside of any sandbox: what helps the server or the command line. It
// is executed at once (posix_spawn): in a process that has threads, no code of ours runs between the clone and the
// program. Processes of sandboxes are the launcher's.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace bj {

struct ProgramSpec {
  std::string path;                                     // without a slash: looked for on the PATH
  std::vector<std::string> arguments;                   // the first is what it is called
  std::optional<std::vector<std::string>> environment;  // "NAME=value"; absent: ours
  int input = -1, output = -1, error = -1;              // what it gets as 0, 1 and 2; -1: /dev/null. Not owned
  std::string directory;                                // where it starts; empty: where we are
};

// Owns one child: killed and waited for at its end. Move-only.
class Program {
 public:
  static Result<Program> start(const ProgramSpec& spec);

  Program(Program&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Program& operator=(Program&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~Program();

  pid_t pid() const { return pid_; }
  // As waitpid() tells it. Blocks; once.
  Result<int> wait();
  // Asks it to end (SIGTERM) and waits for that.
  Result<int> end();

 private:
  explicit Program(pid_t pid) : pid_(pid) {}

  pid_t pid_ = -1;
};

}  // namespace bj
