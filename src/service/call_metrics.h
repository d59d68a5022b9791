// Finished calls in numbers: belljar_calls_total by provider and status, belljar_call_duration_seconds.
#pragma once

#include "server/metrics.h"
#include "tools/tool_runner.h"

namespace bj {

// Both must outlive the last call.
void count_calls(ToolRunner& runner, Metrics& metrics);

}  // namespace bj
