#include "service/call_metrics.h"

namespace bj {

void count_calls(ToolRunner& runner, Metrics& metrics) {
  MetricHistogram durations = metrics.histogram("belljar_call_duration_seconds", "How long tools ran");
  runner.on_finished([&metrics, durations](const RunOutcome& outcome) mutable {
    const MetricLabels labels{{"provider", outcome.provider}, {"status", status_name(outcome.status)}};
    metrics.counter("belljar_calls_total", "Tool calls that ended", labels).add();
    durations.observe(outcome.duration_ms / 1000);
  });
}

}  // namespace bj
