// What a builder of environments may reach: the package indexes as an administrator configured them, and nothing else.
#pragma once

#include "base/async.h"
#include "egress/policy.h"
#include "engine/environment_index.h"

namespace bj {

// The preset `packages`. A configured index (or proxy) may lie at an address that is not public, this very machine
// included: that address and port is then listed, with no other port of it.
Task<NetworkPolicy> builders_network(IndexSettings index);

}  // namespace bj
