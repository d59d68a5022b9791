// The names of the isolation controls. Every step of a plan belongs to one, every sandbox reports the state of each,
// and the mutation tests switch them off one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace bj {

enum class Control : uint8_t {
  kNone,  // steps that build the sandbox rather than close it
  kUserNs,
  kPidNs,
  kMountNs,
  kNetNs,
  kIpcNs,
  kUtsNs,
  kCgroupNs,
  kRoot,
  kReadOnly,
  kIdmap,
  kProc,
  kDev,
  kCaps,
  kNoNewPrivs,
  kSeccomp,
  kLandlock,
  kRlimits,
  kMemory,
  kCpu,
  kPids,
  kIo,
  kDisk,
  kFds,
  kUid,
  kSession,
  kEnvironment,
  kCount
};

inline constexpr std::array<std::string_view, static_cast<size_t>(Control::kCount)> kControlNames = {
    "none",     "userns", "pidns", "mountns", "netns", "ipcns", "utsns",   "cgroupns", "root",
    "readonly", "idmap",  "proc",  "dev",     "caps",  "nnp",   "seccomp", "landlock", "rlimits",
    "memory",   "cpu",    "pids",  "io",      "disk",  "fds",   "uid",     "session",  "environment"};

constexpr std::string_view name_of(Control control) { return kControlNames[static_cast<size_t>(control)]; }

}  // namespace bj
