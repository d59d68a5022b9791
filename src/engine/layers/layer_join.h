// Puts one layer's tree over another's, as an overlay would show them, into a tree that is a layer itself. Files are
// linked, not copied: layers never change, so they may share them.
#pragma once

#include "base/error.h"
#include "engine/layers/layer_copy.h"

namespace bj {

// Both are directories, borrowed, on one filesystem. `onto` is ours alone. Call it with the lowest tree first. Blocks.
Result<void> join_layer_tree(int from, int onto, const LayerLimits& limits);

}  // namespace bj
