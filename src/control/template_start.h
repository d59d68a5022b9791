// What a template asks for at a sandbox's beginning: the directory that processes start in, its start command, in the
// background for as long as the sandbox lives, and its ready command, which is run until it ends with 0.
#pragma once

#include <chrono>

#include "engine/process_table.h"
#include "engine/sandbox_files.h"

namespace bj {

inline constexpr const char* kStartTag = "template-start";  // of the start command's process

// Images name working directories that they don't have: made then, by `maker`, for the image's user. What stands in the
// way is told to whoever needs it.
Task<void> make_start_directory(SandboxFiles& files, Template image, std::string maker);

// In a sandbox's processes. A ready command that does not succeed in time, or does not end, is a failure; the sandbox
// is the caller's to end then.
Task<Result<void>> start_template(ProcessTable& processes, const Template& image, std::chrono::seconds patience);

}  // namespace bj
