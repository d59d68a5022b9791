#include "engine/cgroup_pool.h"

#include <algorithm>

namespace bj {
namespace {

constexpr uint64_t kIoBytesPerSecond = 512u << 20;  // keeps one sandbox from owning the disk

CgroupLimits cgroup_limits(const Limits& limits) {
  return {.memory_bytes = limits.memory_bytes,
          .processes = limits.processes + 1,  // the warden
          .cpus = limits.cpus,
          .io_bytes_per_s = kIoBytesPerSecond};
}

Control control_of(const std::vector<Controller>& controllers) {
  switch (controllers.front()) {
    case Controller::kMemory: return Control::kMemory;
    case Controller::kPids: return Control::kPids;
    case Controller::kIo: return Control::kIo;
    default: return Control::kCpu;
  }
}

}  // namespace

std::vector<int> LeasedGroup::join_files() const {
  std::vector<int> files;
  if (group_) {
    for (const Fd& file : group_->join) files.push_back(file.get());
  }
  return files;
}

CgroupUsage LeasedGroup::used() const {
  if (!group_) return {};
  CgroupUsage now = group_->cgroup.usage();
  now.cpu_ns -= group_->before.cpu_ns;
  now.memory_kills -= group_->before.memory_kills;
  now.forks_refused -= group_->before.forks_refused;
  return now;
}

void LeasedGroup::give_back() {
  if (!group_) return;
  const bool empty = group_->cgroup.empty();
  if (!empty) ++pool_->abandoned_;
  if (empty && pool_->free_.size() < CgroupPool::kMaxFree) pool_->free_.push_back(std::move(group_));
  group_.reset();
  pool_.reset();
}

Result<LeasedGroup> CgroupPool::take(const Limits& limits) {
  LeasedGroup lease;
  if (root_->hierarchies().empty()) return lease;
  const CgroupLimits wanted = cgroup_limits(limits);
  const auto same = std::find_if(free_.begin(), free_.end(), [&](const auto& group) { return group->limits == wanted; });
  if (same != free_.end()) {
    lease.group_ = std::move(*same);
    free_.erase(same);
  } else {
    BJ_TRY(Cgroup cgroup, Cgroup::create(root_, prefix_ + std::to_string(++last_)));
    BJ_CHECK(cgroup.limit(wanted));
    BJ_TRY(auto join, cgroup.join_files());
    lease.group_ = std::make_unique<LeasedGroup::Group>(LeasedGroup::Group{std::move(cgroup), std::move(join), wanted, {}});
  }
  lease.group_->before = lease.group_->cgroup.usage();
  lease.pool_ = shared_from_this();
  return lease;
}

std::vector<Control> CgroupPool::joined_controls() const {
  std::vector<Control> controls;
  for (const auto& hierarchy : root_->hierarchies()) controls.push_back(control_of(hierarchy.controllers));
  return controls;
}

}  // namespace bj
