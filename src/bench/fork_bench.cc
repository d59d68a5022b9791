// Forks of a sandbox that has written a hundred megabytes, through the native API: live, when its files must be copied
// while it stands still, and stopped, when they lie there already.
#include <fmt/format.h>
#include <unistd.h>

#include "bench/baseline.h"
#include "bench/bench_json.h"
#include "bench/bench_server.h"
#include "bench/sandbox_bench.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr int kRounds = 15;
constexpr int kFiles = 50;
constexpr int kFileBytes = 2 << 20;
constexpr useconds_t kBetweenUs = 200'000;  // the disk takes in what was forked before

struct Times {
  Sample live, stopped, create;
};

Result<void> measure(PlainClient& client, const std::string& sandbox, Sample& sample) {
  for (int i = 0; i < kRounds; ++i) {
    const Stopwatch watch;
    BJ_TRY(const std::string made, client.text("POST", sandbox + "/fork", "{}"));
    sample.add(watch.ms());
    const size_t first = made.find('{'), last = made.rfind('}');
    if (first == std::string::npos) return fail(Code::kInternal, "another answer: " + made.substr(0, 300));
    BJ_TRY(const std::string id, text_in_answer(made.substr(first, last - first + 1), "id"));
    BJ_CHECK(client.text("DELETE", "/v1/sandboxes/" + id));
    ::usleep(kBetweenUs);
  }
  return {};
}

Result<void> measure_creates(PlainClient& client, Sample& sample) {
  for (int i = 0; i < kRounds; ++i) {
    const Stopwatch watch;
    BJ_TRY(const std::string made, client.text("POST", "/v1/sandboxes", "{\"timeout\": 3600}"));
    sample.add(watch.ms());
    BJ_TRY(const std::string id, text_in_answer(made, "id"));
    BJ_CHECK(client.text("DELETE", "/v1/sandboxes/" + id));
    ::usleep(kBetweenUs / 4);
  }
  return {};
}

Result<void> measure_all(PlainClient& client, Times& times) {
  BJ_TRY(const std::string made,
         client.text("POST", "/v1/sandboxes", "{\"timeout\": 3600, \"limits\": {\"disk_bytes\": 314572800}}"));
  BJ_TRY(const std::string id, text_in_answer(made, "id"));
  const std::string sandbox = "/v1/sandboxes/" + id;
  const std::string fill =
      fmt::format("{{\"command\": \"for i in $(seq {}); do head -c {} /dev/urandom > $i; done\"}}", kFiles, kFileBytes);
  BJ_CHECK(client.text("POST", sandbox + "/commands", fill));
  BJ_CHECK(measure(client, sandbox, times.live));
  BJ_CHECK(client.text("POST", sandbox + "/stop"));
  BJ_CHECK(measure(client, sandbox, times.stopped));
  return measure_creates(client, times.create);
}

// The same files from memory to where the server has its data, by a program.
Task<Result<Sample>> measure_copies(asio::any_io_executor executor, std::string scratch) {
  const std::string from = fmt::format("/dev/shm/belljar-bench-{}", ::getpid()), to = scratch + "/copied";
  const std::string fill =
      fmt::format("mkdir -p {0} {3} && cd {0} && for i in $(seq {1}); do head -c {2} /dev/urandom > $i; done", from,
                  kFiles, kFileBytes, scratch);
  Sample sample;
  Result<double> ran = co_await spawn_and_wait(executor, {"/bin/sh", "-c", fill});
  for (int i = 0; ran && i < kRounds; ++i) {
    ran = co_await spawn_and_wait(executor, {"cp", "-a", from, to});
    if (ran) sample.add(*ran);
    (void)remove_tree(AT_FDCWD, to);
    ::usleep(kBetweenUs);
  }
  (void)remove_tree(AT_FDCWD, from);
  if (!ran) co_return tl::unexpected(ran.error());
  co_return sample;
}

BenchRow row_of(const char* work, const Sample& sample, double most_ms, const char* baseline, const Sample& beside) {
  BenchRow row;
  row.work = work;
  row.p50_ms = sample.p50();
  row.p99_ms = sample.p99();
  row.baseline = baseline;
  row.baseline_p50_ms = beside.p50();
  row.ratio = sample.p50() / beside.p50();
  row.goal = fmt::format("p50 <= {:g} ms", most_ms);
  row.met = sample.p50() <= most_ms;
  return row;
}

}  // namespace

Task<Result<BenchRows>> bench_fork(SandboxBench bench) {
  Times times;
  const auto work = [&]() -> Result<void> {
    BJ_TRY(const BenchServer server,
           BenchServer::start(fmt::format("{}/server-{}", bench.options.scratch, ::getpid())));
    BJ_TRY(PlainClient client, PlainClient::connect(server.port(), server.key()));
    return measure_all(client, times);
  };
  asio::thread_pool thread(1);
  BJ_CO_CHECK(co_await offload(thread, work));
  BJ_CO_TRY(const Sample copies, co_await measure_copies(bench.engine.host().executor, bench.options.scratch));
  co_return BenchRows{row_of("fork of a live sandbox with 100 MB in 50 files", times.live, 60,
                             "cp -a of such files, memory to disk", copies),
                      row_of("fork of a stopped one", times.stopped, 10, "a create in the same server", times.create)};
}

}  // namespace bj
