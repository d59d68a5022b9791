// The local provider: a call in a fresh sandbox of this host, with its packages in an environment that is built once.
#pragma once

#include <memory>
#include <string>

#include "engine/engine.h"
#include "engine/environments/environments.h"
#include "providers/provider.h"

namespace bj {

struct LocalOptions {
  std::string template_name = "base";
  std::string interpreter = "python3";
  Limits limits;
  IndexSettings index;
  bool require_full_seal = false;
};

class LocalProvider : public Provider {
 public:
  // Both must outlive it.
  LocalProvider(Engine& engine, Environments& environments, LocalOptions options);

  const char* name() const override { return "local"; }
  Task<tl::expected<CallResult, ProviderFailure>> run(ProviderCall call, CallHooks hooks) override;
  Task<Result<void>> rebuild(ProviderCall call) override;

 private:
  Task<Result<Environment>> environment_for(const ProviderCall& call, const Template& image, Progress progress,
                                            Force force);

  Engine& engine_;
  Environments& environments_;
  LocalOptions options_;
};

}  // namespace bj
