// Copies what a sandbox has written out of its filesystem, in the form that an overlay keeps it: whiteouts, opaque
// directories, owners, modes, times, user attributes, hard links, holes.
//
// The tree was written by strangers' code. It is walked by descriptor, one name at a time, nothing is followed and no
// path is resolved; it must not change meanwhile (frozen, or dead), and if it does the copy is of no use but does no
// harm. Sockets are left out, they are of no use without their process. Devices are refused: nothing inside can make
// one. So are trees beyond the limits.
//
// Left out as well, because nothing in a sandbox heeds or can rely on them: file capabilities (every mount is nosuid),
// access control lists, the attributes with which overlayfs remembers where a copy came from, and user attributes that
// the disk's filesystem has no room for (counted).
#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"

namespace bj {

// How ids in the tree become ids in the copy.
struct IdShift {
  uint32_t first = 0;  // what is 0 in the sandbox
  uint32_t count = 0;  // 0: owners are not kept, the copy belongs to its maker (rootless)
};

struct LayerLimits {
  uint64_t max_entries = 4'000'000;
  uint64_t max_bytes = uint64_t{1} << 40;
  unsigned max_depth = 256;  // directories
};

struct LayerCounts {
  uint64_t entries = 0;
  uint64_t size_bytes = 0;  // of data, holes not counted, and something for each entry
  uint64_t sockets_left_out = 0;
  uint64_t attributes_left_out = 0;

  void operator+=(const LayerCounts& more) {
    entries += more.entries;
    size_bytes += more.size_bytes;
    sockets_left_out += more.sockets_left_out;
    attributes_left_out += more.attributes_left_out;
  }
};

// All are directories, borrowed: `to` and `links` are empty and ours, on one filesystem; `links` is for the copy's own
// use. Blocks; large files are copied by a second thread as well. `stop`, if there is one, ends it with an error.
Result<LayerCounts> copy_layer_tree(int from, int to, int links, const IdShift& ids, const LayerLimits& limits,
                                    const std::atomic<bool>* stop);

}  // namespace bj
