#include "control/sandbox_provider.h"

namespace bj {

Result<SandboxProvider> sandbox_provider_named(const std::string& name) {
  if (name == "local") return SandboxProvider::kLocal;
  return fail(Code::kInvalid,
              "SANDBOX_PROVIDER: there is no provider \"" + name.substr(0, 64) + "\" of sandboxes, only local");
}

std::unique_ptr<SandboxHost> make_sandbox_host(SandboxProvider provider, Engine& engine, LocalHostOptions local) {
  switch (provider) {
    case SandboxProvider::kLocal: return std::make_unique<LocalHost>(engine, std::move(local));
  }
  return nullptr;
}

}  // namespace bj
