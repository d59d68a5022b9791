// The rows about the gate: the same HTTPS server, asked by the same program directly and from a sandbox through the
// gate. And what a receipt costs.
#pragma once

#include "bench/http_bench.h"

namespace bj {

struct GateBench {
  Engine& engine;
  const BenchOptions& options;
  const Template& image;
};

// Paced and saturated requests, long bodies.
Task<Result<BenchRows>> bench_gate_load(GateBench bench);
// Paced requests that are given a credential on their way.
Task<Result<BenchRows>> bench_gate_credential(GateBench bench);
// Of a sandbox that was never used: the question for the name, the connection, TLS, an answer.
Task<Result<BenchRows>> bench_gate_first_request(GateBench bench);
Task<Result<BenchRows>> bench_gate_idle_connections(GateBench bench);

// An event's way into the chain and onto the disk.
Task<Result<BenchRows>> bench_receipts(GateBench bench);

}  // namespace bj
