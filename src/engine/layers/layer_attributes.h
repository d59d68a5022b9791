// Which attributes of files a layer keeps: the user's, and of overlayfs's own that which hides what is below.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace bj {

// A directory that has it hides what lower layers have in it.
inline constexpr const char* kOpaqueAttribute = "user.overlay.opaque";

// From one open file or directory to another. Yields how many the other's filesystem had no room for.
Result<uint64_t> copy_layer_attributes(int from, int to);

}  // namespace bj
