#include "engine/cgroup_pool.h"

#include <algorithm>

#include "sys/duplicate.h"

namespace bj {
namespace {

constexpr uint64_t kIoBytesPerSecond = 512u << 20;  // keeps one sandbox from owning the disk

CgroupLimits cgroup_limits(const Limits& limits) {
  return {.memory_bytes = limits.memory_bytes,
          .processes = limits.processes + 1,  // the warden
          .cpus = limits.cpus,
          .io_bytes_per_s = kIoBytesPerSecond};
}

Control control_of(Controller controller) {
  switch (controller) {
    case Controller::kMemory: return Control::kMemory;
    case Controller::kPids: return Control::kPids;
    case Controller::kIo: return Control::kIo;
    default: return Control::kCpu;
  }
}

// What joining a hierarchy's group turns on: one control in version 1, all of them in version 2. Without a device there
// is no I/O to limit.
std::vector<Control> controls_of(const CgroupRoot& root, const CgroupRoot::Hierarchy& hierarchy) {
  std::vector<Control> controls;
  for (const Controller controller : hierarchy.controllers) {
    const Control control = control_of(controller);
    if (control == Control::kIo && root.device().empty()) continue;
    if (std::find(controls.begin(), controls.end(), control) == controls.end()) controls.push_back(control);
  }
  return controls;
}

// One file a control, in the order of joined_controls(): a process may join the same group twice.
Result<std::vector<Fd>> join_files_of(const CgroupRoot& root, const Cgroup& cgroup) {
  BJ_TRY(const std::vector<Fd> files, cgroup.join_files());
  std::vector<Fd> joins;
  for (size_t i = 0; i < files.size(); ++i) {
    for (size_t n = controls_of(root, root.hierarchies()[i]).size(); n > 0; --n) {
      BJ_TRY(Fd join, duplicate(files[i].get()));
      joins.push_back(std::move(join));
    }
  }
  return joins;
}

}  // namespace

std::vector<int> LeasedGroup::join_files() const {
  std::vector<int> files;
  if (group_) {
    for (const Fd& file : group_->join) files.push_back(file.get());
  }
  return files;
}

CgroupUsage LeasedGroup::used() const { return group_ ? group_->cgroup.usage() - group_->before : CgroupUsage(); }

CgroupLoad LeasedGroup::load() const { return group_ ? group_->cgroup.load() : CgroupLoad(); }

Result<void> LeasedGroup::freeze() {
  if (!group_) return fail(Code::kUnavailable, "processes can't be frozen here: there are no cgroups");
  return group_->cgroup.freeze();
}

Result<void> LeasedGroup::thaw() { return group_ ? group_->cgroup.thaw() : Result<void>(); }

std::function<Result<void>()> LeasedGroup::reclaim_work() const {
  return [group = group_]() -> Result<void> { return group ? group->cgroup.reclaim() : Result<void>(); };
}

CgroupUsage LeasedGroup::give_back() {
  if (!group_) return {};
  const bool empty = group_->cgroup.empty();
  const CgroupUsage now = group_->cgroup.usage(), used = now - group_->before;
  if (!empty) ++pool_->abandoned_;
  if (empty && pool_->free_.size() < CgroupPool::kMaxFree) {
    group_->before = now;
    pool_->free_.push_back(std::move(group_));
  }
  group_.reset();
  pool_.reset();
  return used;
}

// Version 2 has one group for all controls: who is to be without one of them is in it all the same.
CgroupLimits CgroupPool::limits_for(const Limits& limits) const {
  CgroupLimits wanted = cgroup_limits(limits);
#ifdef BELLJAR_TEST_SWITCHES
  if (root_->version2() && without_ == "memory") wanted.memory_bytes = 0;
  if (root_->version2() && without_ == "pids") wanted.processes = 0;
  if (root_->version2() && without_ == "cpu") wanted.cpus = 0;
#endif
  return wanted;
}

Result<LeasedGroup> CgroupPool::lease_of(Cgroup cgroup, const CgroupLimits& limits, const CgroupUsage& before) {
  LeasedGroup lease;
  BJ_TRY(auto join, join_files_of(*root_, cgroup));
  Fd directory;
  if (joining() == Joining::kCloned) {
    BJ_TRY(directory, cgroup.directory());
  }
  lease.group_ = std::make_shared<LeasedGroup::Group>(
      LeasedGroup::Group{std::move(cgroup), std::move(join), std::move(directory), limits, before});
  lease.pool_ = shared_from_this();
  return lease;
}

Result<LeasedGroup> CgroupPool::take(const Limits& limits, const std::shared_ptr<const void>& holder) {
  LeasedGroup lease;
  if (root_->hierarchies().empty()) return lease;
  const CgroupLimits wanted = limits_for(limits);
  const auto same = std::find_if(free_.begin(), free_.end(), [&](const auto& group) {
    const std::shared_ptr<const void> held_by = group->holder.lock();
    return group->limits == wanted && (!held_by || held_by == holder);
  });
  if (same != free_.end()) {
    lease.group_ = std::move(*same);
    free_.erase(same);
    lease.pool_ = shared_from_this();
  } else {
    BJ_TRY(Cgroup cgroup, Cgroup::create(root_, prefix_ + std::to_string(++last_)));
    BJ_CHECK(cgroup.limit(wanted));
    BJ_TRY(lease, lease_of(std::move(cgroup), wanted, CgroupUsage()));
  }
  lease.group_->holder = holder;
  return lease;
}

Result<LeasedGroup> CgroupPool::take_up(const std::string& name, const Limits& limits, const CgroupUsage& before) {
  if (root_->hierarchies().empty()) return LeasedGroup();
  BJ_TRY(Cgroup cgroup, Cgroup::open(root_, name));
  return lease_of(std::move(cgroup), limits_for(limits), before);
}

std::vector<Control> CgroupPool::joined_controls() const {
  std::vector<Control> controls;
  for (const auto& hierarchy : root_->hierarchies()) {
    for (const Control control : controls_of(*root_, hierarchy)) controls.push_back(control);
  }
  return controls;
}

}  // namespace bj
