// Python's runners: children of a zygote, which is started at the first need and replaced when it has learned which
// modules the tools of its environment always import.
#pragma once

#include <memory>

#include "base/change.h"
#include "engine/calls/learned_imports.h"
#include "engine/calls/pool.h"
#include "engine/calls/zygote.h"

namespace bj {

// A zygote that has imported what the environment's tools always import. If it does not start with all of that (a
// module that ends it, or more of them than its memory holds) it starts without, and they are not tried again.
Task<Result<std::shared_ptr<Zygote>>> start_zygote(Host& host, const EnvironmentSpec& environment, const Limits& limits,
                                                   LearnedImports& imports, RunnerNetwork network);
// Waits until a zygote's child says that it is sealed; one that can't be is buried.
Task<Result<void>> await_sealed(Runner& child);
// Lets it take one dry call. False: it is of no use any more.
Task<bool> warm_up_python(Runner& runner);

class PythonSource : public RunnerSource {
 public:
  PythonSource(Host& host, EnvironmentSpec environment, Limits limits);

  Task<Result<std::shared_ptr<Runner>>> start_now() override;
  Task<Result<std::shared_ptr<Runner>>> start_ahead() override;
  Task<bool> warm_up(Runner& runner) override;
  void learn(const CallResult& result) override;
  Task<void> stop() override;

 private:
  Task<Result<std::shared_ptr<Zygote>>> zygote();
  void replace_zygote(std::shared_ptr<Zygote> fresh);
  Task<void> stop_unused();

  Host& host_;
  EnvironmentSpec environment_;
  Limits limits_;
  std::shared_ptr<Zygote> zygote_;
  std::vector<std::shared_ptr<Zygote>> retired_;  // their last children may still run
  bool starting_ = false;
  bool renew_ = false;  // something was learned: the next fork ahead comes from a new zygote
  Change started_;
  LearnedImports imports_;
};

}  // namespace bj
