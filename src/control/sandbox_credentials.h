// What a sandbox's gate gives to requests. One that is to be made must have all that it names; one that lives goes on
// with those that are there: what was removed meanwhile is not given any more, takes none of the others with it, and
// keeps nobody from closing its network.
#pragma once

#include <functional>

#include "control/live_sandbox.h"
#include "egress/credential.h"
#include "store/sandbox_table.h"

namespace bj {

struct SandboxCredentials {
  GateCredentials gate;
  SandboxEnvironment placeholders;  // variables in which code finds what it has instead of a value
};

// All that a row names, or a failure. Blocks.
using ReadCredentials = std::function<Result<SandboxCredentials>(const SandboxRow&)>;

// Of one that lives: those that can be had. Blocks as `read` does.
SandboxCredentials credentials_there(const ReadCredentials& read, const SandboxRow& row);

}  // namespace bj
