// What the engine and a zygote's C part (runtimes/python/zygote_module.cc) say to each other on the zygote's control
// socket. Plain structs; the engine treats what comes back as hostile.
#pragma once

#include <cstdint>

namespace bj::zygote {

// First message to the zygote: this, then the steps and the strings of the children's plan.
struct PlanHeader {
  uint32_t step_count;
  uint32_t strings_size;
  uint64_t clone_flags;
  uint32_t own_network;  // 0: the zygote's, which has a gate (or by a test switch)
  uint32_t reserved;
};

// A further message asks for a child. Descriptors: the channel, stdout, stderr, then the cgroup files.
struct ForkRequest {
  uint32_t id;
  uint32_t uid;
  uint32_t warm;  // 1: take one dry call before saying ready; 0: wait in C
  uint32_t cgroup_count;
};

// Or it says that all processes of a child are dead, so that its network namespace may serve another.
struct Buried {
  uint32_t id;
};

struct ForkReply {
  uint32_t id;
  int32_t error;  // errno, 0: the pidfd comes with it
};

inline constexpr uint32_t kMaxPlan = 96 * 1024;

}  // namespace bj::zygote
