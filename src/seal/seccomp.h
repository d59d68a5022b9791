// The system call allow-list, compiled by libseccomp. Everything not named is refused with EPERM (ENOSYS for clone3, so
// that C libraries fall back to clone), calls of another architecture kill the process.
#pragma once

#include <string>

#include "seal/policy.h"

namespace bj {

// The BPF program as the kernel takes it, 8 bytes an instruction. Compiled once a process and profile.
const std::string& seccomp_program(SyscallProfile profile);

}  // namespace bj
