// Copies a directory of the host into a template, by the same rules as an archive. Symlinks are copied, never followed;
// other filesystems mounted below it stay outside, and so does `excluded` (the template store itself).
#pragma once

#include <sys/types.h>

#include <functional>

#include "base/error.h"
#include "engine/import/import_entry.h"
#include "engine/import/import_tree.h"

namespace bj {

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
};

// `source` is borrowed. `progress` is called once an entry.
Result<void> copy_directory(int source, TreeWriter& writer, const FileIdentity& excluded,
                            const std::function<void()>& progress);

}  // namespace bj
