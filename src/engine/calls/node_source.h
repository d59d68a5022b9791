// Node's runners: fresh processes in sandboxes of their own, started ahead because Node can't be forked.
#pragma once

#include "engine/calls/pool.h"

namespace bj {

class NodeSource : public RunnerSource {
 public:
  NodeSource(Host& host, EnvironmentSpec environment, Limits limits, RunnerNetwork network)
      : host_(host), environment_(std::move(environment)), limits_(limits), network_(network) {}

  Task<Result<std::shared_ptr<Runner>>> start_now() override;
  Task<Result<std::shared_ptr<Runner>>> start_ahead() override;
  Task<bool> warm_up(Runner& runner) override;  // they warm themselves up before they say ready
  Task<void> stop() override;

 private:
  Host& host_;
  EnvironmentSpec environment_;
  Limits limits_;
  RunnerNetwork network_;
};

}  // namespace bj
