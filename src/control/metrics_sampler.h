// What each sandbox that runs used lately, a point every few seconds, as long as the server holds it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/change.h"
#include "control/sandbox_manager.h"

namespace bj {

struct MetricPoint {
  int64_t time = 0;        // microseconds since the epoch
  double cpu_percent = 0;  // of what it may use, since the point before
  SandboxMetrics metrics;
};

// Stays on the manager's thread.
class MetricsSampler {
 public:
  // The manager must outlive it.
  MetricsSampler(const asio::any_io_executor& executor, SandboxManager& manager, std::function<int64_t()> now)
      : manager_(manager), now_(std::move(now)), wake_(executor), stopped_(executor) {}

  // Until stop().
  void start();
  Task<void> stop();

  // Oldest first. The first is taken when it is first asked for, if none was before.
  Task<std::vector<MetricPoint>> of(std::shared_ptr<HeldSandbox> sandbox);

 private:
  static constexpr size_t kMostPoints = 720;

  Task<void> run();
  Task<std::optional<MetricPoint>> sample(std::shared_ptr<HeldSandbox> sandbox);

  SandboxManager& manager_;
  std::function<int64_t()> now_;
  asio::steady_timer wake_;
  Change stopped_;  // told when the sampling has ended
  bool running_ = false;
  bool stopping_ = false;
  std::map<std::string, std::deque<MetricPoint>> points_;  // by sandbox
};

}  // namespace bj
