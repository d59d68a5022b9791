#include "server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>
#include <set>

namespace bj {

void MetricCounter::add(double amount) const { counter_->Increment(amount); }
void MetricGauge::set(double value) const { gauge_->Set(value); }
void MetricHistogram::observe(double value) const { histogram_->Observe(value); }

struct Metrics::Impl {
  prometheus::Registry registry;
  std::mutex mutex;
  std::map<std::string, std::set<MetricLabels>> series;
  std::vector<std::function<void()>> refreshers;

  // The labels to use: those asked for, or, if the name has too many series, "other" for each value.
  MetricLabels admit(const std::string& name, MetricLabels labels) {
    const std::lock_guard lock(mutex);
    std::set<MetricLabels>& known = series[name];
    if (known.contains(labels)) return labels;
    if (known.size() >= kMostSeries)
      for (auto& [label, value] : labels) value = "other";
    known.insert(labels);
    return labels;
  }
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

MetricCounter Metrics::counter(const std::string& name, const std::string& help, const MetricLabels& labels) {
  auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(impl_->registry);
  return MetricCounter(family.Add(impl_->admit(name, labels)));
}

MetricGauge Metrics::gauge(const std::string& name, const std::string& help, const MetricLabels& labels) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(impl_->registry);
  return MetricGauge(family.Add(impl_->admit(name, labels)));
}

MetricHistogram Metrics::histogram(const std::string& name, const std::string& help, const MetricLabels& labels,
                                   const std::vector<double>& bounds) {
  auto& family = prometheus::BuildHistogram().Name(name).Help(help).Register(impl_->registry);
  return MetricHistogram(family.Add(impl_->admit(name, labels), bounds));
}

const std::vector<double>& Metrics::duration_bounds() {
  static const std::vector<double> bounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                             0.25,   0.5,   1,      2.5,   5,    10,    30,   60};
  return bounds;
}

void Metrics::before_text(std::function<void()> refresh) { impl_->refreshers.push_back(std::move(refresh)); }

std::string Metrics::text() {
  for (const auto& refresh : impl_->refreshers) refresh();
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace bj
