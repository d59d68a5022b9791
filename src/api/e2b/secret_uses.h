// The gates of sandboxes that run have the values of secrets that their rules name: what becomes of that when a secret
// changes or goes. One that is paused meanwhile has what it had, until its network is set or it boots again.
#pragma once

#include <string>

#include "control/sandbox_manager.h"

namespace bj::e2b {

// They get the newest value.
Task<void> renew_secret_uses(SandboxManager& manager, Actor actor, std::string secret);
// Headers that name it are taken off their rules.
Task<void> end_secret_uses(SandboxManager& manager, Actor actor, std::string secret);

}  // namespace bj::e2b
