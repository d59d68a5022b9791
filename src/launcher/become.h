// What a sandbox's first process does from its clone until it is the warden.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "seal/carry_out.h"
#include "seal/policy.h"

namespace bj {

// Never returns: lets go of the launcher's table of descriptors, which it was cloned with, says so on `late`, waits
// there for the mounts, carries the plan out, executes the warden. A failed step is told on the control socket.
[[noreturn]] void become_sandbox(const PlanView& plan, CarryOut& state, int late);

Result<void> write_id_maps(int pid, const IdMap& ids);

}  // namespace bj
