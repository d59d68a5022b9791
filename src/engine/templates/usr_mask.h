// The mask over the host's /usr: an overlay layer of whiteouts that hides what the host keeps from its own users.
// Idmapped layers make root inside a sandbox the owner of such files, and its capabilities reach them, so permissions
// can't protect them there; an overlay that ends its search at a whiteout can. Nothing inside reaches below it: what a
// sandbox writes lies above, and the layer itself is mounted nowhere that a sandbox can name.
#pragma once

#include <string>

#include "base/error.h"

namespace bj {

// Looks at everything in the directory (or detached mount) `tree`, never following a symlink. Files that others can't
// read and directories that they can't list or enter get a whiteout at the same place below `mask`; the directories on
// the way there look like their originals, because a merged directory shows the upper one's owner, mode and times.
// Where nothing is to be hidden, `mask` is not made. A failure leaves an unfinished mask, for the caller to remove.
Result<void> make_mask(int tree, const std::string& mask);

}  // namespace bj
