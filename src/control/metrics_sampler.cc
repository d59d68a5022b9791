#include "control/metrics_sampler.h"

#include <vector>

namespace bj {
namespace {

constexpr auto kEvery = std::chrono::seconds(5);

}  // namespace

void MetricsSampler::start() {
  running_ = true;
  spawn(wake_.get_executor(), [this]() -> Task<void> {
    co_await run();
    running_ = false;
    stopped_.tell();
  });
}

Task<void> MetricsSampler::stop() {
  stopping_ = true;
  wake_.cancel();
  while (running_) {
    co_await stopped_.wait();
  }
}

Task<void> MetricsSampler::run() {
  while (!stopping_) {
    std::vector<std::shared_ptr<HeldSandbox>> sandboxes;
    for (const auto& [id, sandbox] : manager_.all_held()) sandboxes.push_back(sandbox);
    for (const auto& sandbox : sandboxes) {
      if (!stopping_ && sandbox->row.state == "running") (void)co_await sample(sandbox);
      co_await asio::post(wake_.get_executor(), asio::use_awaitable);  // requests go first
    }
    std::erase_if(points_, [this](const auto& known) { return !manager_.all_held().contains(known.first); });
    if (stopping_) break;
    wake_.expires_after(kEvery);
    (void)co_await expired(wake_);
  }
}

Task<std::optional<MetricPoint>> MetricsSampler::sample(std::shared_ptr<HeldSandbox> sandbox) {
  const Result<SandboxMetrics> measured = co_await sandbox->live->metrics();
  if (!measured) co_return std::nullopt;
  MetricPoint point;
  point.time = now_();
  point.metrics = *measured;
  std::deque<MetricPoint>& points = points_[sandbox->row.id];
  // Less than before: it was started again under its id.
  const bool goes_on = !points.empty() && measured->cpu_ns >= points.back().metrics.cpu_ns;
  if (goes_on && point.time > points.back().time && measured->cpus > 0) {
    const double used_us = static_cast<double>(measured->cpu_ns - points.back().metrics.cpu_ns) / 1000;
    const auto passed_us = static_cast<double>(point.time - points.back().time);
    point.cpu_percent = std::min(100.0, 100 * used_us / passed_us / measured->cpus);
  }
  points.push_back(point);
  if (points.size() > kMostPoints) points.pop_front();
  co_return point;
}

Task<std::vector<MetricPoint>> MetricsSampler::of(std::shared_ptr<HeldSandbox> sandbox) {
  if (points_[sandbox->row.id].empty() && sandbox->row.state == "running") (void)co_await sample(sandbox);
  const std::deque<MetricPoint>& points = points_[sandbox->row.id];
  co_return std::vector<MetricPoint>(points.begin(), points.end());
}

}  // namespace bj
