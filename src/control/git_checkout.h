// A repository cloned inside a sandbox, by its own git, as its user and through its gate: the host never touches it.
#pragma once

#include "control/live_sandbox.h"
#include "control/sandbox_log.h"
#include "control/sandbox_wishes.h"

namespace bj {

// Git's words go to the log. A failure carries the last of them.
Task<Result<void>> check_out(std::shared_ptr<LiveSandbox> sandbox, GitWish git, SandboxLog& log,
                             std::function<int64_t()> now);

}  // namespace bj
