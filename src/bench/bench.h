// `belljar bench`: the table of goals, each row with its baseline from the same run. Only ratios mean something: the
// machines this runs on are noisy.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/async.h"
#include "bench/sample.h"
#include "engine/engine.h"

namespace bj {

struct BenchOptions {
  std::string filter;  // only rows whose work contains it
  int samples = 300;
  double sustained_s = 10;
  int live_sandboxes = 1000;
  std::string scratch;  // a directory for the pydantic environment
};

using BenchProgress = std::function<void(const std::string& doing)>;

Task<Result<std::vector<BenchRow>>> run_bench(Engine& engine, BenchOptions options, BenchProgress progress);

}  // namespace bj
