// What a pidfd tells of a process that is not our child, and how it is ended.
#pragma once

#include <optional>

namespace bj {

// SIGKILL; of one that has ended, nothing.
void kill_process(int pidfd);

// PID 1 of a namespace has ended when all others in it have. False: not in that time; -1: waits for ever.
bool wait_for_end(int pidfd, int timeout_ms);
inline bool has_ended(int pidfd) { return wait_for_end(pidfd, 0); }

// Whether it names a process, and nothing else: it may come from somebody we don't trust.
bool is_pidfd(int fd);

// How it ended, as wait(2) has it; nothing while it lives, and of kernels that don't tell (before 6.15).
std::optional<int> exit_status_of(int pidfd);

}  // namespace bj
