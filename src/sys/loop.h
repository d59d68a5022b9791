// Loop devices: a file seen as a disk. A device goes away by itself with its last user.
#pragma once

#include "base/error.h"
#include "base/fd.h"

namespace bj {

struct LoopDevice {
  Fd fd;  // as long as it is open, or mounted, the device stays
  std::string path;
};

// The device that shows this file, which two must never do: one that is there, or a new one. The caller holds a lock on
// the file, so that nobody else does the same. Blocks. kUnavailable: this machine, or this user, has no loop devices.
Result<LoopDevice> ensure_loop_device(int file);

// Whether there can be any; the sentence says what is missing.
Result<void> check_loop_devices();

}  // namespace bj
