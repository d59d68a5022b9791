// What a sandbox's first process does from its clone until it is the warden.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "seal/carry_out.h"
#include "seal/policy.h"

namespace bj {

// Never returns: lets go of the launcher's table of descriptors, which it was cloned with, says so on `late`, waits
// there for the mounts, carries the plan out, executes the warden. A failed step is told on the control socket.
// `launchers_end` is the other end of `late`: closed here, or this process would never hear that the launcher is gone.
[[noreturn]] void become_sandbox(const PlanView& plan, CarryOut& state, int late, int launchers_end);

Result<void> write_id_maps(int pid, const IdMap& ids);

}  // namespace bj
