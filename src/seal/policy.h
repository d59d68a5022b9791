// What a sandbox is allowed: plain data, decided by the engine, turned into steps by plan.h. Empty means denied.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bj {

// Defaults for a laptop: generous for a tool, harmless for the machine.
struct Limits {
  uint64_t wall_ms = 60'000;         // 0: none
  uint64_t cpu_ms = 0;               // CPU time of all processes together; 0: none
  double cpus = 2.0;                 // share of the machine
  uint64_t memory_bytes = 1u << 30;  // with swap
  uint64_t processes = 1024;         // and threads: a browser alone has hundreds
  uint64_t open_files = 1024;        // per process
  uint64_t disk_bytes = 512u << 20;  // everything the sandbox can write, /tmp and /dev/shm included
  uint64_t output_bytes = 1u << 20;  // of stdout and of stderr, each
  uint64_t argument_bytes = 16u << 20;
  uint64_t return_bytes = 4u << 20;  // as JSON; parsed it may take many times that in the server

  bool operator==(const Limits&) const = default;
};

// How user ids inside map to ids outside. kRange: 0..count-1 to a range nobody else has. kSingle: one id inside is
// the caller himself outside, all that an unprivileged user can have without /etc/subuid.
struct IdMap {
  enum class Kind : uint8_t { kRange, kSingle };
  Kind kind = Kind::kRange;
  uint32_t inside = 0;
  uint32_t outside = 0;
  uint32_t count = 65536;
};

// The system calls a sandbox may make. kCall takes away what would show a call what others do; kZygote adds what a
// zygote needs to seal its children.
enum class SyscallProfile : uint8_t { kTool, kCall, kZygote };

// kTemplate: the template's layers stay read-only; what a call may write is its own tmpfs.
enum class RootMode : uint8_t { kWritable, kTemplate };

inline constexpr uint64_t cap_bit(int capability) { return 1ull << capability; }

// Docker's default set less NET_RAW, MKNOD and AUDIT_WRITE: what package managers inside need, held over the sandbox's
// own user namespace only.
inline constexpr uint64_t kSandboxCaps = cap_bit(0) | cap_bit(1) | cap_bit(3) | cap_bit(4) | cap_bit(5) | cap_bit(6) |
                                         cap_bit(7) | cap_bit(8) | cap_bit(10) | cap_bit(18) | cap_bit(31);
// A zygote seals its children itself: namespaces and mounts (21), network namespaces (12).
inline constexpr uint64_t kZygoteCaps = kSandboxCaps | cap_bit(21) | cap_bit(12);

struct SandboxPolicy {
  // Where each layer of the template is mounted, "/" first; neighbours with the same target are stacked, the first on
  // top.
  std::vector<std::string> layer_targets;
  std::vector<std::string> extra_targets;  // the caller's own mounts, in the order of their slots
  RootMode root = RootMode::kWritable;
  IdMap ids;
  uint64_t caps = kSandboxCaps;
  SyscallProfile syscalls = SyscallProfile::kTool;
  std::string hostname = "belljar";
  std::string boot_id;     // what /proc/sys/kernel/random/boot_id says; empty: the host's
  bool own_trust = false;  // certificates can be added to a template's root, which is read-only otherwise
  Limits limits;
};

}  // namespace bj
