// Moves bytes between descriptors without carrying them through our memory where the kernel can.
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"

namespace bj {

// From the current offset of `from` to its end. Blocks: call it on a worker. Returns the bytes moved.
Result<uint64_t> transfer(int from, int to);

// Where the next bytes of a file begin that are no hole; nothing: none do.
Result<std::optional<uint64_t>> next_data(int fd, uint64_t offset);
// Where the next hole begins; at the end at the latest.
Result<uint64_t> next_hole(int fd, uint64_t offset);

}  // namespace bj
