#include "sys/cgroup_delegation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "sys/files.h"

namespace bj {
namespace {

// /proc/PID/stat: "PID (any name) S PARENT ..."
bool is_ours(const std::string& pid) {
  if (pid == std::to_string(::getpid())) return true;
  const std::string stat = read_file("/proc/" + pid + "/stat").value_or("");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream rest(stat.substr(name_end + 1));
  std::string state, parent;
  rest >> state >> parent;
  return parent == std::to_string(::getpid());
}

Result<void> hand_down(const std::string& group, std::string_view controller) {
  const std::string file = group + "/cgroup.subtree_control";
  if (words_in(file).contains(std::string(controller))) return {};
  return put_text(AT_FDCWD, file, "+" + std::string(controller));
}

}  // namespace

std::string own_leaf(const std::string& name) { return name + "-server"; }

std::string given_group(const std::string& proc_cgroup, const std::string& name) {
  std::istringstream lines(proc_cgroup);
  std::string group = "/";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::")) group = line.substr(3);
  }
  const std::string leaf = "/" + own_leaf(name);
  if (group.ends_with(leaf)) group.resize(group.size() - leaf.size());
  return group == "/" ? "" : group;
}

std::set<std::string> words_in(const std::string& file) {
  std::istringstream text(read_file(file).value_or(""));
  std::set<std::string> words;
  for (std::string word; text >> word;) words.insert(word);
  return words;
}

Result<void> make_room(const std::string& parent, const std::string& name) {
  if (::access((parent + "/cgroup.type").c_str(), F_OK) != 0) return {};  // the machine's root group may hold processes
  const std::string leaf = parent + "/" + own_leaf(name);
  for (const std::string& pid : words_in(parent + "/cgroup.procs")) {
    if (::geteuid() != 0 && !is_ours(pid)) return fail(Code::kUnavailable, "other processes are in " + parent);
  }
  for (const std::string& pid : words_in(parent + "/cgroup.procs")) {
    if (::mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) return fail_errno("mkdir(" + leaf + ")");
    const Result<void> moved = put_text(AT_FDCWD, leaf + "/cgroup.procs", pid);
    if (!moved && moved.error().sys != ESRCH) return moved;
  }
  return {};
}

Result<void> offer(const std::string& parent, const std::string& group, std::string_view controller) {
  if (!words_in(parent + "/cgroup.controllers").contains(std::string(controller)))
    return fail(Code::kUnavailable, parent + " was not given this controller");
  BJ_CHECK(hand_down(parent, controller));
  return hand_down(group, controller);
}

}  // namespace bj
