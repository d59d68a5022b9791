#include "selftest/residue.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "sys/cgroup.h"
#include "sys/files.h"

namespace bj::selftest {
namespace {

constexpr auto kLauncherTime = std::chrono::seconds(2);  // it ends by itself when its socket has closed

size_t count_mounts() {
  const std::string table = read_file("/proc/self/mountinfo").value_or("");
  return static_cast<size_t>(std::count(table.begin(), table.end(), '\n'));
}

std::vector<std::string> children() {
  std::vector<std::string> found;
  std::istringstream pids(read_file("/proc/self/task/" + std::to_string(::getpid()) + "/children").value_or(""));
  for (std::string pid; pids >> pid;) {
    const std::string stat = read_file("/proc/" + pid + "/stat").value_or("");
    const size_t state = stat.rfind(") ");
    if (state != std::string::npos && stat[state + 2] != 'Z')
      found.push_back("process " + pid + " " + stat.substr(0, state + 1));
  }
  return found;
}

std::vector<std::string> groups(const std::string& prefix) {
  std::vector<std::string> found;
  const std::shared_ptr<const CgroupRoot> root = CgroupRoot::open("belljar", "");
  for (const auto& hierarchy : root->hierarchies()) {
    const Result<Fd> dir = open_path(hierarchy.path, O_RDONLY | O_DIRECTORY);
    const auto entries = dir ? list_directory(dir->get()) : Result<std::vector<Entry>>(tl::unexpected(dir.error()));
    if (!entries) continue;
    for (const Entry& entry : *entries) {
      if (entry.name.starts_with(prefix)) found.push_back("cgroup " + hierarchy.path + "/" + entry.name);
    }
  }
  return found;
}

}  // namespace

Before look_before() { return {count_mounts()}; }

std::vector<std::string> residue(const Before& before, const std::string& instance) {
  const auto deadline = std::chrono::steady_clock::now() + kLauncherTime;
  while (!children().empty() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::vector<std::string> found = children();
  for (std::string& group : groups(instance + "-")) found.push_back(std::move(group));
  if (const size_t mounts = count_mounts(); mounts > before.mounts) {
    found.push_back(std::to_string(mounts - before.mounts) + " mounts in the host's namespace");
  }
  return found;
}

}  // namespace bj::selftest
