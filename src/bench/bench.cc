#include "bench/bench.h"

#include <fmt/format.h>

#include <fstream>

#include "bench/baseline.h"
#include "bench/gate_bench.h"
#include "bench/http_bench.h"
#include "bench/measure.h"
#include "bench/pydantic_packages.h"
#include "bench/sandbox_bench.h"

namespace bj {
namespace {

constexpr const char* kAdd = "def add(a: int, b: int) -> int:\n    \"\"\"Adds.\"\"\"\n    return a + b\n";
constexpr const char* kAddWithPydantic =
    "from pydantic import BaseModel\n\ndef add(a: int, b: int) -> int:\n    \"\"\"Adds.\"\"\"\n    return a + b\n";
constexpr const char* kAddTypeScript = "export function add(a: number, b: number): number { return a + b; }\n";

double available_kb() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  double value = 0;
  while (file >> key >> value >> unit) {
    if (key == "MemAvailable:") return value;
  }
  return 0;
}

class Bench {
 public:
  Bench(Engine& engine, BenchOptions options, BenchProgress progress)
      : executor_(engine.host().executor),
        engine_(engine),
        options_(std::move(options)),
        progress_(std::move(progress)) {}

  Task<Result<std::vector<BenchRow>>> run() {
    BJ_CO_TRY(base_, engine_.templates().find("base"));
    using Row = Task<Result<void>> (Bench::*)();
    const std::vector<std::pair<const char*, Row>> rows = {
        {"warm Python call", &Bench::warm_call},
        {"empty pool", &Bench::empty_pool},
        {"burst", &Bench::burst},
        {"calls per second", &Bench::sustained},
        {"warm Python call through HTTP", &Bench::http_call},
        {"calls per second through HTTP", &Bench::http_sustained},
        {"stored tools through HTTP", &Bench::http_stored_tools},
        {"pydantic", &Bench::pydantic},
        {"TypeScript", &Bench::type_script},
        {"create + true + destroy", &Bench::create_destroy},
        {"live sandbox", &Bench::live_sandbox},
        {"idle sandboxes", &Bench::idle_sandboxes},
        {"gate: requests and bytes", &Bench::gate_load},
        {"gate: a credential for each request", &Bench::gate_credential},
        {"gate: first request", &Bench::gate_first_request},
        {"gate: idle connections", &Bench::gate_idle},
        {"receipts", &Bench::receipts},
        {"API: command", &Bench::api_command},
        {"API: file transfer", &Bench::api_transfer},
        {"API: used sandboxes", &Bench::api_used},
        {"API: fork", &Bench::api_fork},
        {"npm build", &Bench::npm_build},
        {"interpreter", &Bench::interpreter},
        {"SDK: create", &Bench::sdk_create}};
    std::string names;
    bool found = false;
    for (const auto& [name, row] : rows) {
      names += (names.empty() ? "" : ", ") + std::string(name);
      if (std::string(name).find(options_.filter) == std::string::npos) continue;
      found = true;
      progress_(name);
      BJ_CO_CHECK(co_await (this->*row)());
    }
    if (!found) co_return fail(Code::kInvalid, "nothing of that name is measured; there are: " + names);
    co_return std::move(rows_);
  }

 private:
  // A pool of its own for each row: the number of open files is part of what pools are kept by.
  CallSpec new_pool(const char* source, PoolOptions python, PoolOptions node = {}) {
    engine_.use_pools(python, node);
    CallSpec spec;
    spec.environment.image = base_;
    spec.environment.interpreter = "/usr/bin/python3";
    spec.source = source;
    spec.arguments = {{"a", 2}, {"b", 3}};
    spec.limits.open_files += ++pools_;
    return spec;
  }

  Task<Result<double>> timed_call(const CallSpec& spec) {
    const Stopwatch watch;
    BJ_CO_TRY(const CallResult result, co_await engine_.call(spec));
    const double ms = watch.ms();
    if (result.status != CallStatus::kOk || result.value != 5) {
      co_return fail(Code::kInternal, "a call failed: " + result.error.name + ": " + result.error.message);
    }
    co_return ms;
  }

  Task<Result<Sample>> paced_calls(const CallSpec& spec, int count, bool settle_between) {
    Sample sample;
    for (int i = 0; i < count; ++i) {
      if (settle_between) co_await engine_.settle(spec);
      co_await pause(executor_, kPace);
      BJ_CO_TRY(const double ms, co_await timed_call(spec));
      sample.add(ms);
    }
    co_return sample;
  }

  void add_row(BenchRow row) { rows_.push_back(std::move(row)); }

  Task<Result<void>> warm_call() {
    const CallSpec spec = new_pool(kAdd, {.least = 16, .most = 16, .warm = 16});
    co_await engine_.settle(spec);
    Sample baseline;
    BJ_CO_CHECK(co_await add_baseline(executor_, baseline, kBarePython, options_.samples / 2));
    BJ_CO_TRY(const Sample sample, co_await paced_calls(spec, options_.samples, false));
    BJ_CO_CHECK(co_await add_baseline(executor_, baseline, kBarePython, options_.samples / 2));
    add_call_p50_ = sample.p50();
    const double ratio = sample.p50() / baseline.p50();
    add_row({.work = "warm Python call add(a, b), full seal, 3 ms apart",
             .p50_ms = sample.p50(),
             .p99_ms = sample.p99(),
             .baseline = "python3 -I -S -c pass",
             .baseline_p50_ms = baseline.p50(),
             .ratio = ratio,
             .goal = "p50 <= 1/12; p99 <= baseline's p50",
             .met = ratio <= 1.0 / 12 && sample.p99() <= baseline.p50(),
             .note = {},
             .skipped = {}});
    co_return Result<void>();
  }

  Task<Result<void>> empty_pool() {
    const CallSpec spec = new_pool(kAdd, {.least = 0, .most = 0, .warm = 0});
    BJ_CO_CHECK(co_await timed_call(spec));
    Sample baseline;
    BJ_CO_CHECK(co_await add_baseline(executor_, baseline, kBarePython, options_.samples / 2));
    BJ_CO_TRY(const Sample sample, co_await paced_calls(spec, options_.samples, false));
    BJ_CO_CHECK(co_await add_baseline(executor_, baseline, kBarePython, options_.samples / 2));
    const double ratio = sample.p50() / baseline.p50();
    add_row({.work = "the same, empty pool (forked on demand)",
             .p50_ms = sample.p50(),
             .p99_ms = sample.p99(),
             .baseline = "python3 -I -S -c pass",
             .baseline_p50_ms = baseline.p50(),
             .ratio = ratio,
             .goal = "p50 <= 2/5",
             .met = ratio <= 0.4,
             .note = {},
             .skipped = {}});
    co_return Result<void>();
  }

  Task<Result<void>> burst() {
    constexpr int kCalls = 100, kRounds = 7;
    const CallSpec spec = new_pool(kAdd, {.least = kCalls, .most = kCalls, .warm = kCalls});
    Sample baseline, sample;
    BJ_CO_CHECK(co_await add_baseline(executor_, baseline, kBarePython, options_.samples / 2));
    for (int round = 0; round < kRounds; ++round) {
      co_await engine_.settle(spec);
      co_await pause(executor_, std::chrono::milliseconds(200));
      const Stopwatch watch;
      BJ_CO_CHECK(co_await all_at_once(executor_, kCalls, [this, &spec]() -> Task<Result<void>> {
        BJ_CO_CHECK(co_await timed_call(spec));
        co_return Result<void>();
      }));
      sample.add(watch.ms());
    }
    BJ_CO_CHECK(co_await add_baseline(executor_, baseline, kBarePython, options_.samples / 2));
    const double ratio = sample.p50() / baseline.p50();
    add_row({.work = "burst: 100 calls at once on a full pool, all answered",
             .p50_ms = sample.p50(),
             .p99_ms = sample.p99(),
             .baseline = "python3 -I -S -c pass",
             .baseline_p50_ms = baseline.p50(),
             .ratio = ratio,
             .goal = "<= 15 x",
             .met = ratio <= 15,
             .note = {},
             .skipped = {}});
    co_return Result<void>();
  }

  Task<Result<void>> sustained() {
    constexpr int kParallel = 32;
    const CallSpec spec = new_pool(kAdd, {});
    co_await engine_.settle(spec);
    const auto spawn = [this]() -> Task<Result<void>> {
      BJ_CO_CHECK(co_await spawn_and_wait(executor_, kBarePython));
      co_return Result<void>();
    };
    BJ_CO_TRY(const double before, co_await rate(executor_, kParallel, options_.sustained_s / 2, spawn));
    BJ_CO_TRY(const double calls,
              co_await rate(executor_, kParallel, options_.sustained_s, [this, &spec]() -> Task<Result<void>> {
                BJ_CO_CHECK(co_await timed_call(spec));
                co_return Result<void>();
              }));
    BJ_CO_TRY(const double after, co_await rate(executor_, kParallel, options_.sustained_s / 2, spawn));
    const double spawned = (before + after) / 2;
    add_row({.work = "calls per second, 32 at once, sustained, refill included",
             .p50_ms = 1000 / calls,
             .p99_ms = 0,
             .baseline = "python3 -I -S -c pass per second, same driver",
             .baseline_p50_ms = 1000 / spawned,
             .ratio = calls / spawned,
             .goal = ">= 2 x (stretch 3 x)",
             .met = calls >= 2 * spawned,
             .note = fmt::format("{:.0f}/s against {:.0f}/s; times are ms per call", calls, spawned),
             .skipped = {}});
    co_return Result<void>();
  }

  using HttpRow = Task<Result<BenchRows>> (*)(HttpBench);

  Task<Result<void>> through_http(HttpRow row, PoolOptions pool) {
    BJ_CO_TRY(BenchRows rows, co_await row({engine_, options_, new_pool(kAdd, pool)}));
    for (BenchRow& one : rows) add_row(std::move(one));
    co_return Result<void>();
  }

  Task<Result<void>> http_call() { return through_http(bench_http_call, {.least = 16, .most = 16, .warm = 16}); }
  Task<Result<void>> http_sustained() { return through_http(bench_http_sustained, {}); }
  Task<Result<void>> http_stored_tools() {
    return through_http(bench_http_stored_tools, {.least = 16, .most = 16, .warm = 16});
  }

  using GateRow = Task<Result<BenchRows>> (*)(GateBench);

  Task<Result<void>> at_the_gate(GateRow row) {
    BJ_CO_TRY(BenchRows rows, co_await row({engine_, options_, base_}));
    for (BenchRow& one : rows) add_row(std::move(one));
    co_return Result<void>();
  }

  Task<Result<void>> gate_load() { return at_the_gate(bench_gate_load); }
  Task<Result<void>> gate_credential() { return at_the_gate(bench_gate_credential); }
  Task<Result<void>> gate_first_request() { return at_the_gate(bench_gate_first_request); }
  Task<Result<void>> gate_idle() { return at_the_gate(bench_gate_idle_connections); }
  Task<Result<void>> receipts() { return at_the_gate(bench_receipts); }

  using SandboxRowOf = Task<Result<BenchRows>> (*)(SandboxBench);

  Task<Result<void>> of_sandboxes(SandboxRowOf row) {
    BJ_CO_TRY(BenchRows rows, co_await row({engine_, options_, base_}));
    for (BenchRow& one : rows) add_row(std::move(one));
    co_return Result<void>();
  }

  Task<Result<void>> api_command() { return of_sandboxes(bench_api_command); }
  Task<Result<void>> api_transfer() { return of_sandboxes(bench_file_transfer); }
  Task<Result<void>> api_used() { return of_sandboxes(bench_used_sandboxes); }
  Task<Result<void>> api_fork() { return of_sandboxes(bench_fork); }
  Task<Result<void>> sdk_create() { return of_sandboxes(bench_sdk_create); }
  Task<Result<void>> interpreter() { return of_sandboxes(bench_interpreter); }
  Task<Result<void>> npm_build() { return of_sandboxes(bench_npm_build); }

  Task<Result<void>> pydantic() {
    BenchRow row{.work = "a tool whose module imports pydantic, warm",
                 .baseline = "the add call",
                 .goal = "p50 <= 2 x",
                 .note = {},
                 .skipped = {}};
    const Result<std::string> packages = co_await pydantic_packages(executor_, options_.scratch);
    if (!packages) {
      row.skipped = "pydantic could not be installed: " + packages.error().what;
      add_row(std::move(row));
      co_return Result<void>();
    }
    const PoolOptions pool{.least = 16, .most = 16, .warm = 16};
    const CallSpec plain = new_pool(kAdd, pool);
    CallSpec spec = new_pool(kAddWithPydantic, pool);
    spec.environment.host_packages = *packages;
    spec.environment.site_dirs = {"/opt/packages"};
    spec.environment.preload = {"pydantic"};
    co_await engine_.settle(plain);
    co_await engine_.settle(spec);
    BJ_CO_TRY(const Sample baseline, co_await paced_calls(plain, options_.samples, true));
    BJ_CO_TRY(const Sample sample, co_await paced_calls(spec, options_.samples, true));
    row.p50_ms = sample.p50();
    row.p99_ms = sample.p99();
    row.baseline_p50_ms = baseline.p50();
    row.ratio = sample.p50() / baseline.p50();
    row.met = row.ratio <= 2;
    add_row(std::move(row));
    co_return Result<void>();
  }

  Task<Result<void>> type_script() {
    CallSpec spec = new_pool(kAddTypeScript, {}, {.least = 4, .most = 4, .warm = 0});
    spec.language = Language::kTypeScript;
    spec.filename = "add.ts";
    BenchRow row{
        .work = "warm TypeScript call", .baseline = "node -e 0", .goal = "p50 <= 1/8", .note = {}, .skipped = {}};
    Sample baseline;
    if (const Result<void> node = co_await add_baseline(executor_, baseline, {"node", "-e", "0"}, options_.samples / 6);
        !node) {
      row.skipped = "no Node.js here: " + node.error().what;
      add_row(std::move(row));
      co_return Result<void>();
    }
    BJ_CO_TRY(const Sample sample, co_await paced_calls(spec, options_.samples, true));
    BJ_CO_CHECK(co_await add_baseline(executor_, baseline, {"node", "-e", "0"}, options_.samples / 6));
    row.p50_ms = sample.p50();
    row.p99_ms = sample.p99();
    row.baseline_p50_ms = baseline.p50();
    row.ratio = sample.p50() / baseline.p50();
    row.met = row.ratio <= 1.0 / 8;
    add_row(std::move(row));
    co_return Result<void>();
  }

  SandboxSpec sandbox_spec() const {
    SandboxSpec spec;
    spec.image = base_;
    return spec;
  }

  static Task<Result<void>> run_true(Sandbox& sandbox) {
    ProcessSpec process;
    process.arguments = {"/bin/true"};
    BJ_CO_TRY(const Process started, co_await sandbox.start(std::move(process)));
    BJ_CO_TRY(const ExitReport exit, co_await started.exit->get());
    if (exit.status != 0) co_return fail(Code::kInternal, "/bin/true failed");
    co_return Result<void>();
  }

  using Create = std::function<Task<Result<std::shared_ptr<Sandbox>>>()>;

  Task<Result<double>> timed_life(const Create& create) {
    const Stopwatch watch;
    BJ_CO_TRY(const auto sandbox, co_await create());
    const Result<void> ran = co_await run_true(*sandbox);
    co_await sandbox->destroy();
    BJ_CO_CHECK(ran);
    co_return watch.ms();
  }

  // Both sides in turn, a pause between: what one leaves to the kernel does not fall on the other.
  Task<Result<void>> create_destroy() {
    const std::vector<std::string> bwrap = {
        "bwrap",    "--unshare-all", "--ro-bind", "/usr", "/usr",      "--symlink", "usr/bin",
        "/bin",     "--symlink",     "usr/lib",   "/lib", "--symlink", "usr/lib64", "/lib64",
        "--proc",   "/proc",         "--dev",     "/dev", "--tmpfs",   "/tmp",      "--die-with-parent",
        "/bin/true"};
    const Create prepared = [this] { return engine_.create_sandbox(sandbox_spec()); };
    const Create from_nothing = [this] { return Sandbox::create(engine_.host(), sandbox_spec()); };
    Sample first, second, baseline;
    std::string skipped;
    for (int i = 0; i < options_.samples; ++i) {
      BJ_CO_TRY(const double ms, co_await timed_life(prepared));
      first.add(ms);
      co_await engine_.settle_sandboxes();
      co_await pause(executor_, kPace);
      BJ_CO_TRY(const double other_ms, co_await timed_life(from_nothing));
      second.add(other_ms);
      co_await pause(executor_, kPace);
      const Result<double> other = co_await spawn_and_wait(executor_, bwrap);
      if (!other) skipped = "no bubblewrap here: " + other.error().what;
      if (other) baseline.add(*other);
      co_await pause(executor_, kPace);
    }
    for (const auto& [work, sample] : {std::pair("create + /bin/true + destroy", &first),
                                       std::pair("the same with no blank sandbox prepared", &second)}) {
      const double ratio = baseline.empty() ? 0 : sample->p50() / baseline.p50();
      add_row({.work = work,
               .p50_ms = sample->p50(),
               .p99_ms = sample->p99(),
               .baseline = "bwrap --unshare-all ... true",
               .baseline_p50_ms = baseline.p50(),
               .ratio = ratio,
               .goal = "p50 <= 0.8 x",
               .met = !baseline.empty() && ratio <= 0.8,
               .note = {},
               .skipped = skipped});
    }
    co_return Result<void>();
  }

  Task<Result<void>> live_sandbox() {
    BJ_CO_TRY(const auto sandbox, co_await engine_.create_sandbox(sandbox_spec()));
    Sample command, file;
    const Result<void> done = co_await measure_live(*sandbox, command, file);
    co_await sandbox->destroy();
    BJ_CO_CHECK(done);
    add_row({.work = "command in a live sandbox",
             .p50_ms = command.p50(),
             .p99_ms = command.p99(),
             .baseline = {},
             .ratio = 0,
             .goal = "p50 <= 1.5 ms",
             .met = command.p50() <= 1.5,
             .note = {},
             .skipped = {}});
    add_row({.work = "open and read a small file in it",
             .p50_ms = file.p50(),
             .p99_ms = file.p99(),
             .baseline = {},
             .ratio = 0,
             .goal = "p50 <= 0.1 ms",
             .met = file.p50() <= 0.1,
             .note = {},
             .skipped = {}});
    co_return Result<void>();
  }

  Task<Result<void>> measure_live(Sandbox& sandbox, Sample& command, Sample& file) {
    BJ_CO_CHECK(co_await sandbox.write_file("/home/user/note", "hello\n", 0644));
    for (int i = 0; i < options_.samples; ++i) {
      const Stopwatch watch;
      BJ_CO_CHECK(co_await run_true(sandbox));
      command.add(watch.ms());
      const Stopwatch reading;
      BJ_CO_TRY(const std::string text, co_await sandbox.read_file("/home/user/note", 4096));
      file.add(reading.ms());
      if (text != "hello\n") co_return fail(Code::kInternal, "the file does not hold what was written");
    }
    co_return Result<void>();
  }

  // First creates are measured by the median of some: one is a matter of luck.
  Task<Result<void>> idle_sandboxes() {
    constexpr int kAround = 20;
    std::vector<std::shared_ptr<Sandbox>> live;
    Sample first, last;
    const double before = available_kb();
    Result<void> failed;
    for (int i = 0; i < options_.live_sandboxes + kAround; ++i) {
      if (i == options_.live_sandboxes) after_kb_ = available_kb();
      const Stopwatch watch;
      auto sandbox = co_await Sandbox::create(engine_.host(), sandbox_spec());  // none prepared: each is made here
      if (!sandbox) {
        failed = tl::unexpected(sandbox.error());
        break;
      }
      live.push_back(std::move(*sandbox));
      if (i < kAround) first.add(watch.ms());
      if (i >= options_.live_sandboxes) last.add(watch.ms());
    }
    for (const auto& sandbox : live) co_await sandbox->destroy();
    BJ_CO_CHECK(failed);
    const double each_kb = (before - after_kb_) / options_.live_sandboxes;
    add_row({.work = fmt::format("{} live idle sandboxes, MB each", options_.live_sandboxes),
             .p50_ms = 0,
             .p99_ms = 0,
             .baseline = {},
             .ratio = each_kb / 1024,
             .goal = "<= 1 MB each",
             .met = each_kb <= 1024,
             .note = fmt::format("{:.0f} KB each", each_kb),
             .skipped = {}});
    add_row({.work = "one more create then",
             .p50_ms = last.p50(),
             .p99_ms = last.p99(),
             .baseline = "the first creates",
             .baseline_p50_ms = first.p50(),
             .ratio = last.p50() / first.p50(),
             .goal = "<= 2 x",
             .met = last.p50() <= 2 * first.p50(),
             .note = {},
             .skipped = {}});
    co_return Result<void>();
  }

  asio::any_io_executor executor_;
  Engine& engine_;
  BenchOptions options_;
  BenchProgress progress_;
  Template base_;
  uint64_t pools_ = 0;
  double add_call_p50_ = 0;
  double after_kb_ = 0;
  std::vector<BenchRow> rows_;
};

}  // namespace

Task<Result<std::vector<BenchRow>>> run_bench(Engine& engine, BenchOptions options, BenchProgress progress) {
  Bench bench(engine, std::move(options), std::move(progress));
  co_return co_await bench.run();
}

}  // namespace bj
