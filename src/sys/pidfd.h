// What a pidfd tells of a process that is not our child.
#pragma once

#include <optional>

namespace bj {

// Whether it names a process, and nothing else: it may come from somebody we don't trust.
bool is_pidfd(int fd);

// How it ended, as wait(2) has it; nothing while it lives, and of kernels that don't tell (before 6.15).
std::optional<int> exit_status_of(int pidfd);

}  // namespace bj
