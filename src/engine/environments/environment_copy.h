// Copies what was installed out of a builder's sandbox. The tree was written by strangers' code: it is walked by
// descriptor and without following anything, its sandbox dead and nothing in it moving. What an environment has no need
// of is refused with a sentence that names it, not left out: symlinks that lead out, devices, FIFOs, sockets,
// set-user-id bits, files that are not the builder's own, absurd sizes and numbers.
#pragma once

#include <cstdint>
#include <functional>

#include "base/error.h"
#include "engine/import/import_entry.h"

namespace bj {

struct CopyCounts {
  uint64_t entries = 0;
  uint64_t size_bytes = 0;
};

// Both are directories, borrowed. Everything copied belongs to the caller and may be read by everyone. `target_inside`
// is where sandboxes will see the tree: absolute links into it are fine.
Result<CopyCounts> copy_installed(int from, int to, const std::string& target_inside, const ImportLimits& limits);

}  // namespace bj
