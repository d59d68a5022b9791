// The row about receipts, see gate_bench.h.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "audit/audit_log.h"
#include "bench/gate_bench.h"
#include "bench/measure.h"
#include "sys/files.h"

namespace bj {
namespace {

Event receipt_of_a_call() {
  Event event;
  event.kind = EventKind::kCall;
  event.action = "tool.run";
  event.subject = "tool-00000000-0000-4000-8000-000000000000";
  event.detail = {{"name", "weather"}, {"status", "ok"}, {"duration_ms", 1.25}, {"provider", "local"}};
  return event;
}

// Events as calls make them, one every other millisecond, so that several share a write; then the rest is waited for.
Task<Result<BenchRow>> measure_receipts(asio::any_io_executor executor, AuditLog& log, int count) {
  Sample caller;
  double written_ms = 0;
  for (int i = 0; i < count; ++i) {
    co_await pause(executor, std::chrono::milliseconds(1));
    const Stopwatch watch;
    BJ_CO_CHECK(co_await log.admit());
    log.add(receipt_of_a_call());
    caller.add(watch.ms());
  }
  const Stopwatch watch;
  for (int i = 0; i < count; ++i) log.add(receipt_of_a_call());
  BJ_CO_CHECK(co_await log.flush());
  written_ms = watch.ms() / count;
  BenchRow row;
  row.work = "the receipt of a call: what the call waits for";
  row.p50_ms = caller.p50();
  row.p99_ms = caller.p99();
  row.ratio = written_ms;
  row.goal = "each <= 0.1 ms, its share of the write to disk too";
  row.met = caller.p50() <= 0.1 && written_ms <= 0.1;
  row.note = fmt::format("ratio: ms each for {} at once, written and flushed", count);
  co_return row;
}

}  // namespace

Task<Result<BenchRows>> bench_receipts(GateBench bench) {
  const asio::any_io_executor executor = bench.engine.host().executor;
  const std::string directory = fmt::format("{}/receipts-{}", bench.options.scratch, ::getpid());
  BJ_CO_CHECK(make_directories(directory, 0700));
  Result<BenchRow> row;
  {
    StoreOptions where;
    where.data_directory = directory;
    BJ_CO_TRY(const auto store, Store::open(std::move(where)));
    BJ_CO_TRY(Notary notary, Notary::open(directory));
    asio::thread_pool threads(1);
    AuditLog log(executor, *store, threads, std::move(notary));
    log.start();
    row = co_await measure_receipts(executor, log, std::max(500, bench.options.samples));
    co_await log.stop();
    threads.join();
  }
  (void)remove_tree(AT_FDCWD, directory);
  BJ_CO_CHECK(row);
  co_return BenchRows{*row};
}

}  // namespace bj
