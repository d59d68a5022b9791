#include "sys/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <thread>

#include "sys/cgroup_delegation.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr uint64_t kCpuPeriodUs = 100'000;
constexpr uint64_t kThreadWeight = 100, kMostWeight = 10'000;     // of version 2
constexpr uint64_t kShares = 1024;                                // version 1's word for a thread's weight
constexpr uint64_t kSocketShare = 4;                              // of the memory limit
constexpr Controller kInEveryGroup = Controller::kCpuAccounting;  // of version 2, whatever was handed down

struct MountLine {
  std::string point, type, options;
};

// mountinfo: "36 35 98:0 /root /point opts - type source superoptions"
std::vector<MountLine> cgroup_mounts(const std::string& mountinfo) {
  std::vector<MountLine> mounts;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skip, point, word;
    words >> skip >> skip >> skip >> skip >> point;
    while (words >> word && word != "-") {
    }
    MountLine mount;
    words >> mount.type >> skip >> mount.options;
    mount.point = point;
    if (mount.type == "cgroup" || mount.type == "cgroup2") mounts.push_back(std::move(mount));
  }
  return mounts;
}

bool lists(std::string_view options, std::string_view word, char separator) {
  std::istringstream parts{std::string(options)};
  for (std::string part; std::getline(parts, part, separator);) {
    if (part == word) return true;
  }
  return false;
}

Result<std::string> processes_in(int dir, const std::string& name) {
  constexpr size_t kLongest = 16u << 20;  // as many as a group may be allowed, and more
  BJ_TRY(const Fd file, open_at(dir, name + "/cgroup.procs", O_RDONLY));
  return read_all(file.get(), kLongest, name + "/cgroup.procs");
}

// What was left in a dead instance's group: a first process that did not notice, and all that it keeps alive. One that
// our own PID namespace does not show is listed as 0, which for kill() would be ourselves.
void kill_all_in(int dir, const std::string& name) {
  std::istringstream pids(processes_in(dir, name).value_or(""));
  for (pid_t pid = 0; pids >> pid;) {
    if (pid > 0) ::kill(pid, SIGKILL);
  }
}

// A group goes when the last one in it has; what was killed takes a moment.
bool remove_soon(int dir, const std::string& name) {
  constexpr int kTries = 50;
  for (int i = 0; i < kTries; ++i) {
    if (::unlinkat(dir, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
    if (errno != EBUSY || processes_in(dir, name).value_or("").empty()) return false;
    ::usleep(10'000);
  }
  return false;
}

uint64_t number(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The value after `key` in a file of "key value" lines.
uint64_t value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(key) && line.substr(key.size()).starts_with(' ')) return number(line.substr(key.size() + 1));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return 0;
}

std::string_view version1_name(Controller controller) {
  return controller == Controller::kIo ? "blkio" : kControllerNames[static_cast<size_t>(controller)];
}

bool make_group(const std::string& path) { return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST; }

}  // namespace

std::shared_ptr<const CgroupRoot> CgroupRoot::open(const std::string& name, const std::string& device,
                                                   std::string given) {
  auto root = std::make_shared<CgroupRoot>();
  root->device_ = device;
  root->given_ = std::move(given);
  const std::string mountinfo = read_file("/proc/self/mountinfo").value_or("");
  root->open_version1(name, mountinfo);
  if (root->hierarchies_.empty()) {
    root->open_version2(name, mountinfo);
  } else {
    root->open_freezer(name, mountinfo);
  }
  root->refuse_missing("no cgroup hierarchy with this controller is mounted");
  root->weigh();
  return root;
}

// To the scheduler all our groups together are one: on a machine with two processors each would have half of a thread's
// weight, and what runs in it would wait behind the server and its clients. So they have one thread's on each.
void CgroupRoot::weigh() const {
  const Hierarchy* const hierarchy = find(Controller::kCpu);
  if (hierarchy == nullptr) return;
  const uint64_t processors = std::max(1U, std::thread::hardware_concurrency());
  const uint64_t weight = std::min(processors * kThreadWeight, kMostWeight);
  // Not one of the seal's controls: without it all is only slower.
  if (version2_) {
    (void)put_text(hierarchy->dir.get(), "cpu.weight", std::to_string(weight));
  } else {
    (void)put_text(hierarchy->dir.get(), "cpu.shares", std::to_string(weight * kShares / kThreadWeight));
  }
}

void CgroupRoot::open_version1(const std::string& name, const std::string& mountinfo) {
  for (const MountLine& mount : cgroup_mounts(mountinfo)) {
    if (mount.type != "cgroup") continue;
    Hierarchy found;
    for (size_t i = 0; i < kControllerNames.size(); ++i) {
      const auto controller = static_cast<Controller>(i);
      if (lists(mount.options, version1_name(controller), ',') && !has(controller)) {
        found.controllers.push_back(controller);
      }
    }
    if (found.controllers.empty()) continue;
    found.path = mount.point + "/" + name;
    Result<Fd> dir = make_group(found.path) ? open_path(found.path, O_PATH | O_DIRECTORY)
                                            : Result<Fd>(fail_errno("mkdir(" + found.path + ")"));
    if (dir && ::faccessat(dir->get(), ".", W_OK, AT_EACCESS) != 0) dir = fail_errno("write(" + found.path + ")");
    if (dir) {
      found.dir = std::move(*dir);
      hierarchies_.push_back(std::move(found));
    } else {
      for (const Controller c : found.controllers) why_not_[static_cast<size_t>(c)] = dir.error().what;
    }
  }
}

// Apart from the others: processes join it when they are frozen for the first time, so that what is never paused does
// not pay for one more group.
void CgroupRoot::open_freezer(const std::string& name, const std::string& mountinfo) {
  for (const MountLine& mount : cgroup_mounts(mountinfo)) {
    if (mount.type != "cgroup" || !lists(mount.options, "freezer", ',')) continue;
    Hierarchy found;
    found.path = mount.point + "/" + name;
    if (!make_group(found.path)) return;
    Result<Fd> dir = open_path(found.path, O_PATH | O_DIRECTORY);
    if (!dir || ::faccessat(dir->get(), ".", W_OK, AT_EACCESS) != 0) return;
    found.dir = std::move(*dir);
    freezer_ = std::move(found);
  }
}

// A mount without controllers is the empty half of a machine that has them in version 1.
void CgroupRoot::open_version2(const std::string& name, const std::string& mountinfo) {
  for (const MountLine& mount : cgroup_mounts(mountinfo)) {
    if (mount.type != "cgroup2" || words_in(mount.point + "/cgroup.controllers").empty()) continue;
    version2_ = true;
    if (::geteuid() != 0 && given_.empty()) given_ = given_group(read_file("/proc/self/cgroup").value_or(""), name);
    const Result<void> opened = open_version2_below(mount.point + given_, name);
    if (!opened) refuse_missing(opened.error().what);
    return;
  }
}

Result<void> CgroupRoot::open_version2_below(const std::string& parent, const std::string& name) {
  Hierarchy found;
  found.path = parent + "/" + name;
  if (!make_group(found.path)) return fail_errno("mkdir(" + found.path + ")");
  if (::faccessat(AT_FDCWD, found.path.c_str(), W_OK, AT_EACCESS) != 0) return fail_errno("write(" + found.path + ")");
  if (Result<void> room = make_room(parent, name); !room) {
    ::rmdir(found.path.c_str());
    return room;
  }
  for (const Controller c : {Controller::kMemory, Controller::kCpu, Controller::kPids, Controller::kIo}) {
    const Result<void> offered = offer(parent, found.path, kControllerNames[static_cast<size_t>(c)]);
    if (offered) {
      found.controllers.push_back(c);
    } else {
      why_not_[static_cast<size_t>(c)] = offered.error().what;
    }
  }
  if (found.controllers.empty()) return {};
  found.controllers.push_back(kInEveryGroup);
  BJ_TRY(found.dir, open_path(found.path, O_PATH | O_DIRECTORY));
  hierarchies_.push_back(std::move(found));
  return {};
}

void CgroupRoot::refuse_missing(const std::string& reason) {
  for (size_t i = 0; i < why_not_.size(); ++i) {
    if (!has(static_cast<Controller>(i)) && why_not_[i].empty()) why_not_[i] = reason;
  }
}

const CgroupRoot::Hierarchy* CgroupRoot::find(Controller controller) const {
  for (const Hierarchy& hierarchy : hierarchies_) {
    for (const Controller c : hierarchy.controllers) {
      if (c == controller) return &hierarchy;
    }
  }
  return nullptr;
}

bool CgroupRoot::remove_leftovers(const std::string& prefix,
                                  const std::function<bool(const std::string&)>& in_use) const {
  bool all = true;
  const auto clean = [&](const Hierarchy& hierarchy, const char* thaw_file, const char* thawed) {
    const auto entries = list_directory(hierarchy.dir.get());
    if (!entries) return;
    for (const Entry& entry : *entries) {
      if (!entry.name.starts_with(prefix) || (in_use && in_use(entry.name))) continue;
      if (thaw_file != nullptr) (void)put_text(hierarchy.dir.get(), entry.name + "/" + thaw_file, thawed);
      kill_all_in(hierarchy.dir.get(), entry.name);
      if (!remove_soon(hierarchy.dir.get(), entry.name)) all = false;
    }
  };
  if (freezer_) clean(*freezer_, "freezer.state", "THAWED");
  for (const Hierarchy& hierarchy : hierarchies_) clean(hierarchy, version2_ ? "cgroup.freeze" : nullptr, "0");
  return all;
}

Result<Cgroup> Cgroup::create(std::shared_ptr<const CgroupRoot> root, std::string name) {
  for (const CgroupRoot::Hierarchy& hierarchy : root->hierarchies()) {
    if (::faccessat(hierarchy.dir.get(), name.c_str(), F_OK, 0) == 0)
      return fail(Code::kInvalid, "cgroup " + name + " exists");
  }
  Cgroup group(std::move(root), std::move(name));  // from here on a failure removes what was made
  for (const CgroupRoot::Hierarchy& hierarchy : group.root_->hierarchies()) {
    if (::mkdirat(hierarchy.dir.get(), group.name_.c_str(), 0755) != 0) {
      return fail_errno("mkdir(" + hierarchy.path + "/" + group.name_ + ")");
    }
  }
  return group;
}

Result<Cgroup> Cgroup::open(std::shared_ptr<const CgroupRoot> root, std::string name) {
  for (const CgroupRoot::Hierarchy& hierarchy : root->hierarchies()) {
    if (name.empty() || name.find('/') != std::string::npos ||
        ::faccessat(hierarchy.dir.get(), name.c_str(), F_OK, 0) != 0)
      return fail(Code::kNotFound, "cgroup " + name + " is gone");
  }
  return Cgroup(std::move(root), std::move(name));
}

Cgroup& Cgroup::operator=(Cgroup&& other) noexcept {
  std::swap(root_, other.root_);
  std::swap(name_, other.name_);
  std::swap(counters_, other.counters_);
  return *this;
}

Cgroup::~Cgroup() {
  if (!root_) return;
  for (const CgroupRoot::Hierarchy& hierarchy : root_->hierarchies()) {
    ::unlinkat(hierarchy.dir.get(), name_.c_str(), AT_REMOVEDIR);
  }
  if (root_->freezer() != nullptr) ::unlinkat(root_->freezer()->dir.get(), name_.c_str(), AT_REMOVEDIR);
}

Result<void> Cgroup::put(Controller controller, const std::string& file, const std::string& value) const {
  const CgroupRoot::Hierarchy* hierarchy = root_->find(controller);
  return hierarchy == nullptr ? Result<void>() : put_text(hierarchy->dir.get(), name_ + "/" + file, value);
}

Result<Fd> Cgroup::open_file(Controller controller, const std::string& file) const {
  const CgroupRoot::Hierarchy* hierarchy = root_->find(controller);
  if (hierarchy == nullptr) return fail(Code::kNotFound, "no hierarchy has " + file);
  return open_at(hierarchy->dir.get(), name_ + "/" + file, O_RDONLY);
}

std::string Cgroup::get(Controller controller, const std::string& file) const {
  const Result<Fd> fd = open_file(controller, file);
  return fd ? read_all(fd->get(), 65536, file).value_or("") : "";
}

// For short files only, and none of those that list processes: version 1 shows them as they were at the first read.
std::string Cgroup::get_kept(Fd& kept, Controller controller, const std::string& file) const {
  if (!kept.ok()) kept = open_file(controller, file).value_or(Fd());
  char text[4096];
  const ssize_t size = kept.ok() ? ::pread(kept.get(), text, sizeof text, 0) : 0;
  return {text, static_cast<size_t>(std::max<ssize_t>(size, 0))};
}

Result<void> Cgroup::limit(const CgroupLimits& limits) {
  return root_->version2() ? limit_version2(limits) : limit_version1(limits);
}

Result<void> Cgroup::limit_version1(const CgroupLimits& limits) const {
  if (limits.memory_bytes != 0) {
    const std::string bytes = std::to_string(limits.memory_bytes);
    BJ_CHECK(put(Controller::kMemory, "memory.limit_in_bytes", bytes));
    // Swap accounting may be compiled out; then there is no file and no swap to limit per group.
    if (const auto r = put(Controller::kMemory, "memory.memsw.limit_in_bytes", bytes);
        !r && r.error().code != Code::kNotFound) {
      return r;
    }
    // Version 1 counts unread data of connections apart, and only where it has a limit of its own.
    const std::string sockets = std::to_string(limits.memory_bytes / kSocketShare);
    if (const auto r = put(Controller::kMemory, "memory.kmem.tcp.limit_in_bytes", sockets);
        !r && r.error().code != Code::kNotFound) {
      return r;
    }
  }
  if (limits.processes != 0) BJ_CHECK(put(Controller::kPids, "pids.max", std::to_string(limits.processes)));
  if (limits.cpus > 0) {
    const auto quota = static_cast<uint64_t>(limits.cpus * kCpuPeriodUs);
    BJ_CHECK(put(Controller::kCpu, "cpu.cfs_quota_us", std::to_string(quota)));
  }
  if (limits.io_bytes_per_s != 0 && !root_->device().empty()) {
    for (const char* file : {"blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"}) {
      BJ_CHECK(put(Controller::kIo, file, fmt::format("{} {}", root_->device(), limits.io_bytes_per_s)));
    }
  }
  return {};
}

Result<void> Cgroup::limit_version2(const CgroupLimits& limits) const {
  if (limits.memory_bytes != 0) {
    BJ_CHECK(put(Controller::kMemory, "memory.max", std::to_string(limits.memory_bytes)));
    if (const auto r = put(Controller::kMemory, "memory.swap.max", "0"); !r && r.error().code != Code::kNotFound) {
      return r;
    }
  }
  if (limits.processes != 0) BJ_CHECK(put(Controller::kPids, "pids.max", std::to_string(limits.processes)));
  if (limits.cpus > 0) {
    const auto quota = static_cast<uint64_t>(limits.cpus * kCpuPeriodUs);
    BJ_CHECK(put(Controller::kCpu, "cpu.max", fmt::format("{} {}", quota, kCpuPeriodUs)));
  }
  if (limits.io_bytes_per_s != 0 && !root_->device().empty()) {
    BJ_CHECK(put(Controller::kIo, "io.max",
                 fmt::format("{} rbps={} wbps={}", root_->device(), limits.io_bytes_per_s, limits.io_bytes_per_s)));
  }
  return {};
}

// Who joins has one thread. Where a single thread can move itself (version 1), the kernel needs no lock over all
// processes of the machine, for which it would wait a grace period of 10 ms and more.
Result<std::vector<Fd>> Cgroup::join_files() const {
  const std::string file_name = root_->version2() ? "/cgroup.procs" : "/tasks";
  std::vector<Fd> files;
  for (const CgroupRoot::Hierarchy& hierarchy : root_->hierarchies()) {
    BJ_TRY(Fd file, open_at(hierarchy.dir.get(), name_ + file_name, O_WRONLY));
    files.push_back(std::move(file));
  }
  return files;
}

Result<Fd> Cgroup::directory() const {
  return open_at(root_->hierarchies().front().dir.get(), name_, O_PATH | O_DIRECTORY);
}

CgroupUsage Cgroup::usage() const {
  CgroupUsage usage;
  if (root_->version2()) {
    usage.cpu_ns = value_of(get_kept(counters_.cpu, Controller::kCpuAccounting, "cpu.stat"), "usage_usec") * 1000;
    usage.memory_kills = value_of(get_kept(counters_.memory, Controller::kMemory, "memory.events"), "oom_kill");
  } else {
    usage.cpu_ns = number(get_kept(counters_.cpu, Controller::kCpuAccounting, "cpuacct.usage"));
    usage.memory_kills = value_of(get_kept(counters_.memory, Controller::kMemory, "memory.oom_control"), "oom_kill");
  }
  usage.forks_refused = value_of(get_kept(counters_.forks, Controller::kPids, "pids.events"), "max");
  return usage;
}

CgroupLoad Cgroup::load() const {
  CgroupLoad load;
  const bool v2 = root_->version2();
  load.memory_bytes = number(get(Controller::kMemory, v2 ? "memory.current" : "memory.usage_in_bytes"));
  load.cache_bytes = value_of(get(Controller::kMemory, "memory.stat"), v2 ? "file" : "total_cache");
  load.processes = number(get(Controller::kPids, "pids.current"));
  return load;
}

Result<std::vector<std::string>> Cgroup::members() const {
  std::vector<std::string> pids;
  if (root_->hierarchies().empty()) return pids;
  BJ_TRY(const std::string text, processes_in(root_->hierarchies().front().dir.get(), name_));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) pids.push_back(line);
  return pids;
}

// The group is frozen first and its members then moved into it, where each stops at once: only who is not in yet can
// fork, so the rounds come to an end.
Result<void> Cgroup::freeze_version1() const {
  constexpr int kRounds = 100;
  const CgroupRoot::Hierarchy* freezer = root_->freezer();
  if (freezer == nullptr)
    return fail(Code::kUnavailable, "processes can't be frozen here: no freezer hierarchy of cgroups is mounted");
  if (::mkdirat(freezer->dir.get(), name_.c_str(), 0755) != 0 && errno != EEXIST)
    return fail_errno("mkdir(" + freezer->path + "/" + name_ + ")");
  BJ_CHECK(put_text(freezer->dir.get(), name_ + "/freezer.state", "FROZEN"));
  for (int round = 0; round < kRounds; ++round) {
    BJ_TRY(const std::string text, processes_in(freezer->dir.get(), name_));
    BJ_TRY(const std::vector<std::string> pids, members());
    const std::string inside = "\n" + text;
    bool all = true;
    for (const std::string& pid : pids) {
      if (inside.find("\n" + pid + "\n") != std::string::npos) continue;
      all = false;
      const Result<void> moved = put_text(freezer->dir.get(), name_ + "/cgroup.procs", pid);
      if (!moved && moved.error().sys != ESRCH) return moved;
    }
    if (all) return {};
  }
  return fail(Code::kBusy, "the processes start others faster than they can be frozen");
}

Result<void> Cgroup::freeze() {
  if (root_->version2()) return put(kInEveryGroup, "cgroup.freeze", "1");
  Result<void> frozen = freeze_version1();
  if (!frozen) (void)thaw();
  return frozen;
}

Result<void> Cgroup::thaw() {
  if (root_->version2()) return put(kInEveryGroup, "cgroup.freeze", "0");
  if (root_->freezer() == nullptr) return {};
  Result<void> thawed = put_text(root_->freezer()->dir.get(), name_ + "/freezer.state", "THAWED");
  if (!thawed && thawed.error().code == Code::kNotFound) return {};  // was never frozen
  return thawed;
}

bool Cgroup::is_frozen() const {
  if (root_->version2()) return get(kInEveryGroup, "cgroup.freeze").starts_with("1");
  if (root_->freezer() == nullptr) return false;
  const Result<Fd> fd = open_at(root_->freezer()->dir.get(), name_ + "/freezer.state", O_RDONLY);
  return fd && !read_all(fd->get(), 64, "freezer.state").value_or("THAWED").starts_with("THAWED");
}

// Freezing takes effect when each process next looks: nothing is reclaimed from under one that still runs, and one that
// does not stop is kBusy. Version 2 reclaims what it is asked for and says EAGAIN if that was more than there was.
Result<void> Cgroup::reclaim() const {
  constexpr int kLooks = 2000;
  const auto frozen = [this] {
    if (root_->version2()) return get(kInEveryGroup, "cgroup.events").find("frozen 1") != std::string::npos;
    const CgroupRoot::Hierarchy* freezer = root_->freezer();
    const Result<Fd> fd = open_at(freezer->dir.get(), name_ + "/freezer.state", O_RDONLY);
    return fd && read_all(fd->get(), 64, "freezer.state").value_or("") == "FROZEN\n";
  };
  for (int look = 0; !frozen(); ++look) {
    if (look == kLooks) return fail(Code::kBusy, "a process of the group does not stop");
    ::usleep(1000);
  }
  Result<void> asked = root_->version2()
                           ? put(Controller::kMemory, "memory.reclaim", std::to_string(load().memory_bytes))
                           : put(Controller::kMemory, "memory.force_empty", "0");
  if (!asked && (asked.error().sys == EAGAIN || asked.error().sys == EBUSY)) return {};
  return asked;
}

bool Cgroup::empty() const {
  // The quick look. It counts the dead too until they are waited for, so only a 0 tells. Who is in one hierarchy and
  // alive is in all: a process joins them before anything else runs in it.
  if (get_kept(counters_.processes, Controller::kPids, "pids.current") == "0\n") return true;
  const auto is_empty = [this](const auto& hierarchy) {
    const Result<std::string> text = processes_in(hierarchy.dir.get(), name_);
    return text ? text->empty() : text.error().code == Code::kNotFound;
  };
  return std::all_of(root_->hierarchies().begin(), root_->hierarchies().end(), is_empty);
}

}  // namespace bj
