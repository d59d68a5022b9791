// Waiting in the kernel, which goes on after a signal, and for children.
#pragma once

#include <poll.h>
#include <signal.h>

#include <cstddef>
#include <span>

#include "base/error.h"

namespace bj {

// Yields how many have something to say; 0: the time is over. -1: waits for ever. A signal begins the time anew.
Result<size_t> wait_for_events(std::span<pollfd> fds, int timeout_ms);

// The end of a child of ours, which is nobody then. Blocks.
Result<siginfo_t> wait_for_child(int pid);

}  // namespace bj
