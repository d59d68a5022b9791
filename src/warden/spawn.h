// Starting processes inside the sandbox.
#pragma once

#include "warden/kernel.h"

namespace bj::ward {

struct Spawned {
  long pid;         // or -errno: of exec itself too, "no such file" included
  long terminal;    // the PTY's master, -1 without one
};

// `strings` are those of a decoded kSpawn request.
Spawned spawn(const Request& request, const char* strings, const Descriptors& descriptors);

}  // namespace bj::ward
