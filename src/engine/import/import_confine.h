// The cell in which archives are unpacked. confine() is called once by the import's child process and takes from it,
// for good, everything that unpacking does not need: other descriptors, the host's files (chroot as root, Landlock),
// capabilities, memory and time without bound, and every system call that is not about files below the new template.
#pragma once

#include "base/error.h"
#include "engine/import/import_entry.h"

namespace bj {

// Descriptors are borrowed. They are the only ones that stay open.
struct ImportCell {
  int directory = -1;  // the new template: becomes the working directory and, for root, the root directory
  int rootfs = -1;     // directories in it, the only places to write
  int scratch = -1;
  int source = -1;  // a file, or a directory that may be read
  bool source_is_directory = false;
  int messages = -1;  // the pipe to the parent
  ImportLimits limits;
};

// Returns Landlock's ABI, 0 where the kernel has none (or one too old to allow hard links). Everything else must work.
// From here on there is no exec, no socket, no new process; only _exit.
Result<int> confine(const ImportCell& cell);

}  // namespace bj
