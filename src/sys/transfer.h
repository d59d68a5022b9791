// Moves bytes between descriptors without carrying them through our memory where the kernel can.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace bj {

// From the current offset of `from` to its end. Blocks: call it on a worker. Returns the bytes moved.
Result<uint64_t> transfer(int from, int to);

}  // namespace bj
