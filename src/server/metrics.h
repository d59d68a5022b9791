// Counters, gauges and histograms for GET /metrics, in Prometheus' text format. Handles stay valid as long as Metrics
// lives and may be used from any thread; make them once, not per event.
//
//   MetricCounter calls = metrics.counter("belljar_calls_total", "Tool calls", {{"status", "ok"}});
//   calls.add();
//
// Label values must come from a small fixed set, never from a client: past kMostSeries of one name, further ones are
// counted together under the value "other".
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace bj {

using MetricLabels = std::map<std::string, std::string>;

class MetricCounter {
 public:
  explicit MetricCounter(prometheus::Counter& counter) : counter_(&counter) {}
  void add(double amount = 1) const;

 private:
  prometheus::Counter* counter_;
};

class MetricGauge {
 public:
  explicit MetricGauge(prometheus::Gauge& gauge) : gauge_(&gauge) {}
  void set(double value) const;

 private:
  prometheus::Gauge* gauge_;
};

class MetricHistogram {
 public:
  explicit MetricHistogram(prometheus::Histogram& histogram) : histogram_(&histogram) {}
  void observe(double value) const;

 private:
  prometheus::Histogram* histogram_;
};

class Metrics {
 public:
  static constexpr size_t kMostSeries = 2000;

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Asked again with the same name and labels, they give the same series.
  MetricCounter counter(const std::string& name, const std::string& help, const MetricLabels& labels = {});
  MetricGauge gauge(const std::string& name, const std::string& help, const MetricLabels& labels = {});
  // `bounds` are upper bounds in rising order, in seconds if it is a duration.
  MetricHistogram histogram(const std::string& name, const std::string& help, const MetricLabels& labels = {},
                            const std::vector<double>& bounds = duration_bounds());
  static const std::vector<double>& duration_bounds();  // half a millisecond to a minute

  // Called before each text(): sets gauges whose value is cheap to ask and dear to keep. On the server's thread.
  void before_text(std::function<void()> refresh);
  std::string text();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bj
