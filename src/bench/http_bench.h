// The rows about the tool service: the same calls as a client of its server sees them.
#pragma once

#include <vector>

#include "base/async.h"
#include "bench/bench.h"
#include "bench/sample.h"
#include "engine/engine.h"

namespace bj {

struct HttpBench {
  Engine& engine;
  const BenchOptions& options;
  CallSpec like;  // a pool that nobody else uses
};
using BenchRows = std::vector<BenchRow>;

// One client, calls apart: beside a bare Python and beside Letta's own way of running a tool.
Task<Result<BenchRows>> bench_http_call(HttpBench bench);
// Many clients, all the time.
Task<Result<BenchRows>> bench_http_sustained(HttpBench bench);
// Few and many tools in the store.
Task<Result<BenchRows>> bench_http_stored_tools(HttpBench bench);

}  // namespace bj
