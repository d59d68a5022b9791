// Control groups that are used again: making and removing one costs more than a call should pay, and removed memory
// groups linger in the kernel. A group goes back only when it is empty.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "seal/control.h"
#include "seal/plan.h"
#include "seal/policy.h"
#include "sys/cgroup.h"

namespace bj {

class CgroupPool;

// A group in use, with its limits set. `used()` counts since it was taken.
class LeasedGroup {
 public:
  LeasedGroup() = default;
  LeasedGroup(LeasedGroup&&) = default;
  LeasedGroup& operator=(LeasedGroup&&) = default;
  ~LeasedGroup() { give_back(); }

  std::vector<int> join_files() const;
  int directory() const { return group_ ? group_->directory.get() : -1; }  // where CgroupPool::joining() is kCloned
  CgroupUsage used() const;
  CgroupLoad load() const;
  Result<void> freeze();
  Result<void> thaw();
  bool is_frozen() const { return group_ && group_->cgroup.is_frozen(); }
  // For whoever goes on with it when this process is gone: CgroupPool::take_up().
  std::string name() const { return group_ ? group_->cgroup.name() : ""; }
  CgroupUsage used_before() const { return group_ ? group_->before : CgroupUsage(); }
  // To be run on a worker, while the lease is held.
  std::function<Result<void>()> reclaim_work() const;
  CgroupUsage give_back();  // every process in it must be dead; what they used

 private:
  friend class CgroupPool;
  struct Group {
    Cgroup cgroup;
    std::vector<Fd> join;
    Fd directory;
    CgroupLimits limits;
    CgroupUsage before;  // as the last lease left it
    std::weak_ptr<const void> holder = {};
  };
  std::shared_ptr<CgroupPool> pool_;
  std::shared_ptr<Group> group_;  // shared with work that is under way
};

// Not thread-safe. Without any controller the leases are empty and limit nothing; the seal says so.
class CgroupPool : public std::enable_shared_from_this<CgroupPool> {
 public:
  CgroupPool(std::shared_ptr<const CgroupRoot> root, std::string prefix)
      : root_(std::move(root)), prefix_(std::move(prefix)) {}

  // `holder` lives as long as somebody who is not trusted may have kept the join files: with them he comes into the
  // group whenever he likes. Until then nobody else gets it. Empty: nobody.
  Result<LeasedGroup> take(const Limits& limits, const std::shared_ptr<const void>& holder = nullptr);
  // One that a process before this had taken.
  Result<LeasedGroup> take_up(const std::string& name, const Limits& limits, const CgroupUsage& before);
  const CgroupRoot& root() const { return *root_; }
  // Groups given back with live processes in them: each is something that outlived its sandbox.
  size_t abandoned() const { return abandoned_; }
  // The controls that joining a group turns on, one entry a join file.
  std::vector<Control> joined_controls() const;
  // How a process that the launcher clones comes in. A zygote has no right to clone into a group; its children write.
  Joining joining() const { return root_->version2() ? Joining::kCloned : Joining::kWriting; }
#ifdef BELLJAR_TEST_SWITCHES
  void leave_out(std::string control) { without_ = std::move(control); }
#endif

 private:
  friend class LeasedGroup;
  static constexpr size_t kMaxFree = 256;

  CgroupLimits limits_for(const Limits& limits) const;
  Result<LeasedGroup> lease_of(Cgroup cgroup, const CgroupLimits& limits, const CgroupUsage& before);

  std::shared_ptr<const CgroupRoot> root_;
  std::string prefix_;
  uint64_t last_ = 0;
  size_t abandoned_ = 0;
#ifdef BELLJAR_TEST_SWITCHES
  std::string without_;
#endif
  std::vector<std::shared_ptr<LeasedGroup::Group>> free_;
};

}  // namespace bj
