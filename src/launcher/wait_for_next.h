// What the launcher does while there is no server: keeps the time of what it keeps, and listens at the door.
#pragma once

#include "base/fd.h"
#include "launcher/keeper.h"
#include "launcher/keeper_door.h"

namespace bj {

// The socket to the next server; none when nothing lives any more, or somebody asked for the end of it.
Fd wait_for_next(const Door& door, Keeper& keeper);

}  // namespace bj
