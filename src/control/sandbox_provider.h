// Who hosts sandboxes, chosen by name when a server starts. The one place that knows them all.
#pragma once

#include <memory>
#include <string>

#include "control/local_sandbox.h"

namespace bj {

enum class SandboxProvider { kLocal };

// kInvalid, with the names that there are.
Result<SandboxProvider> sandbox_provider_named(const std::string& name);

std::unique_ptr<SandboxHost> make_sandbox_host(SandboxProvider provider, Engine& engine, LocalHostOptions local);

}  // namespace bj
