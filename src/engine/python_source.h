// Python's runners: children of a zygote, which is started at the first need and replaced when it has learned which
// modules the tools of its environment always import.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "engine/pool.h"
#include "engine/zygote.h"

namespace bj {

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
  std::vector<std::string> preload() const;

  Host& host_;
  EnvironmentSpec environment_;
  Limits limits_;
  std::shared_ptr<Zygote> zygote_;
  std::vector<std::shared_ptr<Zygote>> retired_;  // their last children may still run
  bool starting_ = false;
  bool renew_ = false;  // something was learned: the next fork ahead comes from a new zygote
  asio::steady_timer started_;
  Result<void> start_result_;
  std::map<std::string, int> seen_;
  std::set<std::string> learned_;
};

}  // namespace bj
