#include "bench/http_bench.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <functional>

#include "bench/baseline.h"
#include "bench/bench_service.h"
#include "bench/http_load.h"
#include "bench/letta_way.h"
#include "bench/pydantic_packages.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr int kWarmUp = 50;
constexpr int kLettaEvery = 6;  // it takes that much longer: fewer samples

// The requests' log goes to a file, as under a service manager: it is written, but not between the table's lines.
class LogFile {
 public:
  static Result<LogFile> open(const std::string& path) {
    BJ_TRY(const Fd file, open_path(path, O_WRONLY | O_CREAT | O_APPEND, 0600));
    Fd before(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!before.ok() || ::dup2(file.get(), STDERR_FILENO) < 0) return fail_errno("dup2(stderr)");
    return LogFile(std::move(before));
  }
  LogFile(LogFile&&) = default;
  LogFile& operator=(LogFile&&) = delete;
  ~LogFile() {
    if (before_.ok()) ::dup2(before_.get(), STDERR_FILENO);
  }

 private:
  explicit LogFile(Fd before) : before_(std::move(before)) {}
  Fd before_;
};

using Measure = std::function<Task<Result<BenchRows>>(HttpLoad&, const std::vector<HttpCall>&)>;

Task<Result<BenchRows>> measure_warm(HttpBench& bench, const std::vector<HttpCall>& calls, const Measure& measure) {
  HttpLoad load;
  BJ_CO_CHECK(co_await load.paced(calls, kWarmUp));
  co_await bench.engine.settle(bench.like);
  co_return co_await measure(load, calls);
}

// A service for each number of tools, for as long as the measurement takes.
Task<Result<BenchRows>> with_services(HttpBench& bench, std::vector<int> tools, Measure measure) {
  const std::string directory = fmt::format("{}/http-{}", bench.options.scratch, ::getpid());
  BJ_CO_CHECK(make_directories(directory, 0700));
  Result<BenchRows> rows;
  std::vector<std::unique_ptr<BenchService>> services;
  std::vector<HttpCall> calls;
  {
    BJ_CO_TRY(const LogFile log, LogFile::open(directory + "/log"));
    for (const int count : tools) {
      auto service =
          co_await BenchService::start(bench.engine, {fmt::format("{}/{}", directory, count), bench.like, count});
      if (!service) rows = tl::unexpected(service.error());
      if (!service) break;
      calls.push_back((*service)->call());
      services.push_back(std::move(*service));
    }
    if (rows) rows = co_await measure_warm(bench, calls, measure);
    for (const auto& service : services) co_await service->stop();
  }
  (void)remove_tree(AT_FDCWD, directory);
  co_return rows;
}

BenchRow compared(const Sample& sample, const Sample& baseline) {
  BenchRow row;
  row.p50_ms = sample.p50();
  row.p99_ms = sample.p99();
  row.baseline_p50_ms = baseline.p50();
  row.ratio = baseline.empty() ? 0 : sample.p50() / baseline.p50();
  return row;
}

BenchRow beside_python(const Sample& sample, const Sample& baseline) {
  BenchRow row = compared(sample, baseline);
  row.work = "warm Python call through HTTP: keep-alive, key, stored tool, variables, agent";
  row.baseline = "python3 -I -S -c pass";
  row.goal = "p50 <= 1/6";
  row.met = row.ratio <= 1.0 / 6;
  return row;
}

BenchRow beside_letta(const Sample& sample, const Sample& baseline, std::string skipped) {
  BenchRow row = compared(sample, baseline);
  row.work = "the same beside Letta's own way";
  row.baseline = "write a script, python3 on it with pydantic, find the marker";
  row.goal = "p50 <= 1/60";
  row.met = skipped.empty() && row.ratio <= 1.0 / 60;
  row.skipped = std::move(skipped);
  return row;
}

// The other side's samples, half of them at a time.
struct Baselines {
  asio::any_io_executor executor;
  LettaWay way;
  Sample python, letta;
  std::string no_letta;  // why there is none

  Task<Result<void>> add(int count) {
    BJ_CO_CHECK(co_await add_baseline(executor, python, kBarePython, count));
    for (int i = 0; no_letta.empty() && i < count / kLettaEvery; ++i) {
      BJ_CO_TRY(const double ms, co_await call_letta_way(executor, way));
      letta.add(ms);
      co_await pause(executor, kPace);
    }
    co_return Result<void>();
  }
};

}  // namespace

Task<Result<BenchRows>> bench_http_call(HttpBench bench) {
  const asio::any_io_executor executor = bench.engine.host().executor;
  const Result<std::string> packages = co_await pydantic_packages(executor, bench.options.scratch);
  Baselines baselines{executor, {bench.options.scratch, packages.value_or("")}, {}, {}, {}};
  if (!packages) baselines.no_letta = "pydantic could not be installed: " + packages.error().what;
  const int samples = bench.options.samples;
  const Measure measure = [&](HttpLoad& load, const std::vector<HttpCall>& calls) -> Task<Result<BenchRows>> {
    BJ_CO_CHECK(co_await baselines.add(samples / 2));
    BJ_CO_TRY(const std::vector<Sample> http, co_await load.paced(calls, samples));
    BJ_CO_CHECK(co_await baselines.add(samples / 2));
    co_return BenchRows{beside_python(http[0], baselines.python),
                        beside_letta(http[0], baselines.letta, baselines.no_letta)};
  };
  co_return co_await with_services(bench, {1}, measure);
}

Task<Result<BenchRows>> bench_http_sustained(HttpBench bench) {
  constexpr int kClients = 32;
  const double seconds = bench.options.sustained_s;
  const Measure measure = [seconds](HttpLoad& load, const std::vector<HttpCall>& calls) -> Task<Result<BenchRows>> {
    const BenchWork spawn = [executor = load.executor()]() -> Task<Result<void>> {
      BJ_CO_CHECK(co_await spawn_and_wait(executor, kBarePython));
      co_return Result<void>();
    };
    BJ_CO_TRY(const double before, co_await load.sustained(spawn, kClients, seconds / 2));
    BJ_CO_TRY(const double served, co_await load.sustained(calls[0], kClients, seconds));
    BJ_CO_TRY(const double after, co_await load.sustained(spawn, kClients, seconds / 2));
    const double spawned = (before + after) / 2;
    BenchRow row;
    row.work = "calls per second through HTTP, 32 clients, sustained, refill included";
    row.p50_ms = 1000 / served;
    row.baseline = "python3 -I -S -c pass per second, same driver";
    row.baseline_p50_ms = 1000 / spawned;
    row.ratio = served / spawned;
    row.goal = ">= 1.8 x";
    row.met = row.ratio >= 1.8;
    row.note = fmt::format("{:.0f}/s against {:.0f}/s; times are ms per call", served, spawned);
    co_return BenchRows{row};
  };
  co_return co_await with_services(bench, {1}, measure);
}

Task<Result<BenchRows>> bench_http_stored_tools(HttpBench bench) {
  const int samples = 3 * bench.options.samples;  // a difference of a tenth is looked for
  const Measure measure = [samples](HttpLoad& load, const std::vector<HttpCall>& calls) -> Task<Result<BenchRows>> {
    BJ_CO_TRY(const std::vector<Sample> both, co_await load.paced(calls, samples));
    BenchRow row = compared(both[1], both[0]);
    row.work = "the call through HTTP with 10,000 stored tools";
    row.baseline = "with 10, in turn";
    row.goal = "within 10 %";
    row.met = std::abs(row.ratio - 1) <= 0.1;
    co_return BenchRows{row};
  };
  co_return co_await with_services(bench, {10, 10'000}, measure);
}

}  // namespace bj
