#include "sys/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace bj {
namespace {

// Ends with a null pointer, as exec wants it; points into the texts.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<Program> Program::start(const ProgramSpec& spec) {
  std::vector<std::string> words = spec.arguments;
  std::vector<std::string> variables = spec.environment.value_or(std::vector<std::string>());
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> environment = pointers_to(variables);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  const std::pair<int, int> places[] = {
      {spec.input, STDIN_FILENO}, {spec.output, STDOUT_FILENO}, {spec.error, STDERR_FILENO}};
  for (const auto& [given, place] : places) {
    if (given >= 0) ::posix_spawn_file_actions_adddup2(&actions, given, place);
    if (given < 0) ::posix_spawn_file_actions_addopen(&actions, place, "/dev/null", O_RDWR, 0);
  }
  if (!spec.directory.empty()) ::posix_spawn_file_actions_addchdir_np(&actions, spec.directory.c_str());
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, spec.path.c_str(), &actions, nullptr, arguments.data(),
                                   spec.environment ? environment.data() : environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail_with(error, "posix_spawn(" + spec.path + ")");
  return Program(pid);
}

Program::~Program() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  (void)wait();
}

Result<int> Program::end() {
  ::kill(pid_, SIGTERM);
  return wait();
}

Result<int> Program::wait() {
  const pid_t pid = std::exchange(pid_, -1);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return fail_errno("waitpid");
  }
  return status;
}

}  // namespace bj
