// How rows measure: with pauses, with baselines around the work, with much work at once. Everything runs on the given
// executor's one thread.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/async.h"
#include "bench/sample.h"

namespace bj {

inline constexpr auto kPace = std::chrono::milliseconds(3);

using BenchWork = std::function<Task<Result<void>>()>;

Task<void> pause(asio::any_io_executor executor, std::chrono::milliseconds time);

// Times `count` runs of a command. Call it with half of the runs before the work and half after: a drift of the machine
// hits both sides.
Task<Result<void>> add_baseline(asio::any_io_executor executor, Sample& sample, std::vector<std::string> command,
                                int count);

// Starts `count` coroutines at once and waits for all.
Task<Result<void>> all_at_once(asio::any_io_executor executor, int count, BenchWork work);

// How often `work` completes in a second with `parallel` of it going on all the time.
Task<Result<double>> rate(asio::any_io_executor executor, int parallel, double seconds, BenchWork work);

}  // namespace bj
