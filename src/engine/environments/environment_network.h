// What a builder of environments may reach: the package indexes as an administrator configured them, and nothing else.
#pragma once

#include "base/async.h"
#include "egress/policy.h"
#include "engine/environments/environment_index.h"

namespace bj {

// The preset `packages`, less what apt needs. A configured index (or proxy) may lie at an address that is not public,
// this very machine included: that address and port is then listed, with no other port of it. So is that of a public
// index for which the machine's own resolver gives a private address, as networks with a mirror do; but never the
// machine itself, a link-local address or a metadata service, which nobody asked for.
Task<NetworkPolicy> builders_network(IndexSettings index);
// The same for other hosts than the indexes' own, say with what apt needs.
Task<NetworkPolicy> builders_network(IndexSettings index, std::vector<std::string> hosts);

}  // namespace bj
