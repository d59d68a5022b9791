// The rows about sandboxes that live in a server, as clients of its API see them.
#pragma once

#include <vector>

#include "base/async.h"
#include "bench/bench.h"
#include "bench/sample.h"

namespace bj {

struct SandboxBench {
  Engine& engine;
  const BenchOptions& options;
  Template image;
};
using BenchRows = std::vector<BenchRow>;

// A command in a live sandbox, through the native API.
Task<Result<BenchRows>> bench_api_command(SandboxBench bench);
// A large file up and down, beside nginx with the same client.
Task<Result<BenchRows>> bench_file_transfer(SandboxBench bench);
// Many that live, each of which has run a command.
Task<Result<BenchRows>> bench_used_sandboxes(SandboxBench bench);
// A small project, installed from a warm cache and built, beside the same on the host.
Task<Result<BenchRows>> bench_npm_build(SandboxBench bench);

// A new interpreter's first result; checkpoint and rollback of one that holds much.
Task<Result<BenchRows>> bench_interpreter(SandboxBench bench);
// Forks of a sandbox that has written much, live and stopped.
Task<Result<BenchRows>> bench_fork(SandboxBench bench);
// create → first command answered, through the released e2b package for Node.
Task<Result<BenchRows>> bench_sdk_create(SandboxBench bench);

}  // namespace bj
