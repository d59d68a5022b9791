// Control groups, version 2 or the per-controller hierarchies of version 1, behind one type. A Cgroup is one group in
// every hierarchy that is needed; removing it is its clean-up.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

enum class Controller : uint8_t { kMemory, kCpu, kCpuAccounting, kPids, kIo, kCount };
inline constexpr std::array<std::string_view, 5> kControllerNames = {"memory", "cpu", "cpuacct", "pids", "io"};

struct CgroupLimits {
  uint64_t memory_bytes = 0;  // with swap where the kernel counts it; 0: no limit
  uint64_t processes = 0;
  double cpus = 0;
  uint64_t io_bytes_per_s = 0;  // each way, on the device the root was opened for

  bool operator==(const CgroupLimits&) const = default;
};

struct CgroupUsage {
  uint64_t cpu_ns = 0;
  uint64_t memory_kills = 0;  // processes killed for memory so far
  uint64_t forks_refused = 0;

  // What came since then.
  CgroupUsage operator-(const CgroupUsage& then) const {
    return {cpu_ns - then.cpu_ns, memory_kills - then.memory_kills, forks_refused - then.forks_refused};
  }
};

// What a group holds now.
struct CgroupLoad {
  uint64_t memory_bytes = 0;
  uint64_t cache_bytes = 0;  // of it, file cache
  uint64_t processes = 0;
};

// The hierarchies of this machine below which Belljar may make groups, each with a group `name` that holds ours.
// Constant after open(), so shared by threads.
class CgroupRoot {
 public:
  // `device`: whose I/O is limited, "8:0"; empty: none. Controllers that can't be had are told by why_not(). `given`:
  // the version 2 group in which who is not root makes his; empty: the one that this process was given.
  static std::shared_ptr<const CgroupRoot> open(const std::string& name, const std::string& device,
                                                std::string given = {});

  // One directory a hierarchy: v1 has one a controller, v2 one for all.
  struct Hierarchy {
    std::vector<Controller> controllers;
    std::string path;
    Fd dir;
  };
  const std::vector<Hierarchy>& hierarchies() const { return hierarchies_; }
  bool version2() const { return version2_; }  // the controllers are there, whether we may use them or not
  bool has(Controller controller) const { return find(controller) != nullptr; }
  std::string why_not(Controller controller) const { return why_not_[static_cast<size_t>(controller)]; }
  const std::string& device() const { return device_; }
  const std::string& given() const { return given_; }  // for whoever goes on with our groups
  const Hierarchy* find(Controller controller) const;
  // Where version 1 freezes; null if it can't be had, and with version 2, which freezes any group.
  const Hierarchy* freezer() const { return freezer_ ? &*freezer_ : nullptr; }

  // Removes the groups whose names start with `prefix`, left by an instance that died; frozen ones go on first, or they
  // could never end. Groups with processes stay, and the answer is false. What `in_use` says yes to
  // is nobody's leftover.
  bool remove_leftovers(const std::string& prefix,
                        const std::function<bool(const std::string& name)>& in_use = nullptr) const;

 private:
  void open_version1(const std::string& name, const std::string& mountinfo);
  void open_freezer(const std::string& name, const std::string& mountinfo);
  void open_version2(const std::string& name, const std::string& mountinfo);
  Result<void> open_version2_below(const std::string& parent, const std::string& name);
  void refuse_missing(const std::string& reason);
  void weigh() const;

  bool version2_ = false;
  std::string device_;
  std::string given_;
  std::vector<Hierarchy> hierarchies_;
  std::optional<Hierarchy> freezer_;
  std::array<std::string, static_cast<size_t>(Controller::kCount)> why_not_;
};

class Cgroup {
 public:
  static Result<Cgroup> create(std::shared_ptr<const CgroupRoot> root, std::string name);
  // One that is there: whoever made it is gone.
  static Result<Cgroup> open(std::shared_ptr<const CgroupRoot> root, std::string name);
  Cgroup(Cgroup&&) = default;
  Cgroup& operator=(Cgroup&& other) noexcept;
  ~Cgroup();

  Result<void> limit(const CgroupLimits& limits);
  // Files, opened by us, that put a process in when it writes "0": one a hierarchy, in the root's order.
  Result<std::vector<Fd>> join_files() const;
  // Version 2: what a process can be cloned into, which spares it the wait that joining is there.
  Result<Fd> directory() const;
  CgroupUsage usage() const;  // keeps the files open: a call's group is asked again and again
  CgroupLoad load() const;
  bool empty() const;  // no process left

  // Stops every process in it where it is, new ones included. What is dead already can't be frozen, so a kill comes
  // first and a thaw after it. Both may be repeated.
  Result<void> freeze();
  Result<void> thaw();
  bool is_frozen() const;  // or about to be
  const std::string& name() const { return name_; }
  // Asks the kernel for what it can give back of a frozen group: file cache, and other memory where there is swap.
  // Blocks, for seconds where there is much: call it on a worker.
  Result<void> reclaim() const;

 private:
  Cgroup(std::shared_ptr<const CgroupRoot> root, std::string name) : root_(std::move(root)), name_(std::move(name)) {}
  Result<void> put(Controller controller, const std::string& file, const std::string& value) const;
  Result<Fd> open_file(Controller controller, const std::string& file) const;
  std::string get(Controller controller, const std::string& file) const;
  std::string get_kept(Fd& kept, Controller controller, const std::string& file) const;
  Result<void> limit_version1(const CgroupLimits& limits) const;
  Result<void> limit_version2(const CgroupLimits& limits) const;
  Result<void> freeze_version1() const;
  Result<std::vector<std::string>> members() const;

  std::shared_ptr<const CgroupRoot> root_;
  std::string name_;
  struct Counters {
    Fd cpu, memory, forks, processes;
  };
  mutable Counters counters_;
};

}  // namespace bj
