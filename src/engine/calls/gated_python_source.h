// Python's runners for calls with a network: each is the only child of a zygote of its own, in a sandbox with a gate.
// The child stays in the zygote's network namespace, which the launcher owns, so nobody inside can change its rules;
// all other walls of a call stand as always. Runner, zygote and gate end together.
#pragma once

#include "engine/calls/learned_imports.h"
#include "engine/calls/pool.h"

namespace bj {

class GatedPythonSource : public RunnerSource {
 public:
  GatedPythonSource(Host& host, EnvironmentSpec environment, Limits limits)
      : host_(host), environment_(std::move(environment)), limits_(limits) {}

  Task<Result<std::shared_ptr<Runner>>> start_now() override;
  Task<Result<std::shared_ptr<Runner>>> start_ahead() override;
  Task<bool> warm_up(Runner& runner) override;
  void learn(const CallResult& result) override;
  Task<void> stop() override;

 private:
  Host& host_;
  EnvironmentSpec environment_;
  Limits limits_;
  LearnedImports imports_;
};

}  // namespace bj
