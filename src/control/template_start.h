// What a template asks for at a sandbox's beginning: its start command, in the background for as long as the sandbox
// lives, and its ready command, which is run until it ends with 0.
#pragma once

#include <chrono>

#include "control/live_sandbox.h"

namespace bj {

inline constexpr const char* kStartTag = "template-start";  // of the start command's process

// A ready command that does not succeed in time is a failure; the sandbox is the caller's to end then.
Task<Result<void>> start_template(LiveSandbox& sandbox, const Template& image, std::chrono::seconds patience);

}  // namespace bj
