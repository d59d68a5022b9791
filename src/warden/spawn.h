// Starting processes inside the sandbox. Nothing here waits for a process: one that root inside stops between its
// making and its first instruction must not stop the warden.
#pragma once

#include "warden/kernel.h"

namespace bj::ward {

struct Spawned {
  long pid;       // or -errno
  long terminal;  // the PTY's master, -1 without one
  long outcome;   // a pipe that tells whether the program runs, see outcome_of(); -1 if there is no process
};

// `strings` are those of a decoded kSpawn request.
Spawned spawn(const Request& request, const char* strings, const Descriptors& descriptors);

// 0: the program runs (or its process was killed before); -EAGAIN: not known yet; else why it could not be executed.
long outcome_of(int outcome);

}  // namespace bj::ward
