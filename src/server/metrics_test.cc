#include "server/metrics.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(MetricsTest, WhatWasCountedIsInTheText) {
  Metrics metrics;
  metrics.counter("calls_total", "Calls", {{"status", "ok"}}).add();
  metrics.counter("calls_total", "Calls", {{"status", "ok"}}).add(2);
  metrics.histogram("call_seconds", "Duration").observe(0.003);
  const MetricGauge waiting = metrics.gauge("waiting", "Waiting children");
  metrics.before_text([waiting] { waiting.set(7); });
  const std::string text = metrics.text();
  EXPECT_NE(text.find("calls_total{status=\"ok\"} 3"), std::string::npos) << text;
  EXPECT_NE(text.find("call_seconds_bucket{le=\"0.005\"} 1"), std::string::npos) << text;
  EXPECT_NE(text.find("call_seconds_bucket{le=\"0.0025\"} 0"), std::string::npos) << text;
  EXPECT_NE(text.find("waiting 7"), std::string::npos) << text;
}

TEST(MetricsTest, TooManySeriesAreCountedTogether) {
  Metrics metrics;
  for (size_t i = 0; i < Metrics::kMostSeries + 500; ++i)
    metrics.counter("x_total", "X", {{"id", std::to_string(i)}}).add();
  EXPECT_NE(metrics.text().find("x_total{id=\"other\"} 500"), std::string::npos);
}

}  // namespace
}  // namespace bj
