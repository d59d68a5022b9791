#include "selftest/attack_world.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>

#include "selftest/attack_files.h"
#include "sys/files.h"
#include "sys/pipe.h"

namespace bj::selftest {
namespace {

constexpr const char* kPython = "/usr/bin/python3";

// Its first line: "up PID", or why not.
Result<pid_t> machine_of(const std::string& said) {
  if (!said.starts_with("up ")) {
    return fail(Code::kUnavailable, "the attacks' servers could not be started (they need python3, ip and openssl): " +
                                        said.substr(0, said.find('\n')));
  }
  return static_cast<pid_t>(std::atoi(said.c_str() + 3));
}

std::string first_line(int fd) {
  std::string line;
  char c = 0;
  while (line.size() < 1000 && ::read(fd, &c, 1) == 1 && c != '\n') line.push_back(c);
  return line;
}

}  // namespace

AttackWorld::~AttackWorld() {
  if (servers_) (void)servers_->end();  // what it started ends with it
  std::error_code ignored;
  if (!scratch_.empty()) std::filesystem::remove_all(scratch_, ignored);
}

Result<void> AttackWorld::write_programs() {
  char path[] = "/tmp/belljar-world-XXXXXX";
  if (::mkdtemp(path) == nullptr) return fail_errno("mkdtemp(/tmp)");
  scratch_ = path;
  for (const AttackFile& file : embedded_world_files()) {
    BJ_CHECK(write_file_atomically(scratch_ + "/" + file.name, file.text, 0600));
  }
  return {};
}

Result<void> AttackWorld::run() {
  BJ_TRY(Pipe input, make_pipe());
  BJ_TRY(Pipe output, make_pipe());
  ProgramSpec spec;
  spec.path = kPython;
  spec.arguments = {kPython, scratch_ + "/network_world.py", scratch_};
  spec.input = input.read.get();
  spec.output = spec.error = output.write.get();
  BJ_TRY(servers_, Program::start(spec));
  alive_ = std::move(input.write);
  output.write.reset();
  BJ_TRY(const pid_t machine, machine_of(first_line(output.read.get())));
  const std::string namespaces = "/proc/" + std::to_string(machine) + "/ns/";
  BJ_TRY(network_, open_path(namespaces + "net", O_RDONLY));
  BJ_TRY(mounts_, open_path(namespaces + "mnt", O_RDONLY));
  return {};
}

Result<AttackWorld> AttackWorld::start() {
  if (::geteuid() != 0) return fail(Code::kUnavailable, "their servers have network namespaces, which takes root");
  AttackWorld world;
  BJ_CHECK(world.write_programs());
  BJ_CHECK(world.run());
  return world;
}

Result<void> AttackWorld::enter() const {
  const std::filesystem::path here = std::filesystem::current_path();  // entering leaves it
  if (::setns(network_.get(), CLONE_NEWNET) != 0) return fail_errno("setns(network)");
  if (::setns(mounts_.get(), CLONE_NEWNS) != 0) return fail_errno("setns(mounts)");
  std::filesystem::current_path(here);
  return {};
}

}  // namespace bj::selftest
