#include "bench/sandbox_bench.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "bench/bench_json.h"
#include "bench/bench_server.h"
#include "bench/http_load.h"
#include "bench/nginx.h"

namespace bj {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kFileMiB = 100;
constexpr int kRounds = 9;

std::string server_directory(const BenchOptions& options) {
  return fmt::format("{}/server-{}", options.scratch, ::getpid());
}

// Blocking work on a thread of its own, so that nothing of the bench's other threads is in it.
template <class F>
Task<std::invoke_result_t<F>> apart(F work) {
  asio::thread_pool thread(1);
  auto result = co_await offload(thread, std::move(work));
  thread.join();
  co_return result;
}

Result<std::string> create(PlainClient& client, const std::string& body = "{\"timeout\": 3600}") {
  BJ_TRY(const std::string made, client.text("POST", "/v1/sandboxes", body));
  return text_in_answer(made, "id");
}

Result<void> run_true(PlainClient& client, const std::string& id) {
  BJ_TRY(const std::string done,
         client.text("POST", "/v1/sandboxes/" + id + "/commands", "{\"command\": [\"/bin/true\"]}"));
  if (done.find("\"exit_status\":0") == std::string::npos) return fail(Code::kInternal, "/bin/true failed: " + done);
  return {};
}

double available_kb() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  double value = 0;
  while (file >> key >> value >> unit) {
    if (key == "MemAvailable:") return value;
  }
  return 0;
}

BenchRow absolute(std::string work, const Sample& sample, std::string goal, bool met) {
  BenchRow row;
  row.work = std::move(work);
  row.p50_ms = sample.p50();
  row.p99_ms = sample.p99();
  row.goal = std::move(goal);
  row.met = met;
  return row;
}

}  // namespace

Task<Result<BenchRows>> bench_api_command(SandboxBench bench) {
  const auto work = [&]() -> Result<Sample> {
    BJ_TRY(const BenchServer server, BenchServer::start(server_directory(bench.options)));
    BJ_TRY(PlainClient client, PlainClient::connect(server.port(), server.key()));
    BJ_TRY(const std::string id, create(client));
    for (int i = 0; i < 20; ++i) BJ_CHECK(run_true(client, id));
    Sample sample;
    for (int i = 0; i < bench.options.samples; ++i) {
      const Stopwatch watch;
      BJ_CHECK(run_true(client, id));
      sample.add(watch.ms());
      ::usleep(3000);
    }
    return sample;
  };
  BJ_CO_TRY(const Sample sample, co_await apart(work));
  co_return BenchRows{absolute("command in a live sandbox, native API", sample, "p50 <= 2 ms", sample.p50() <= 2)};
}

namespace {

// Both ways, in ms.
struct Transfer {
  Sample up, down;

  Result<void> add(PlainClient& client, const std::string& path, std::string_view piece) {
    const Stopwatch upload;
    BJ_TRY(const auto put, client.ask("PUT", path, piece, kFileMiB));
    up.add(upload.ms());
    if (put.status / 100 != 2)
      return fail(Code::kInternal, fmt::format("PUT was answered with {}: {}", put.status, put.body));
    const Stopwatch download;
    BJ_TRY(const auto got, client.ask("GET", path));
    down.add(download.ms());
    if (got.body_bytes != kFileMiB * kMiB) return fail(Code::kInternal, "GET gave another length");
    return {};
  }
};

BenchRow transfer_row(const char* work, const Sample& ours, const Sample& theirs, const std::string& no_nginx) {
  BenchRow row = absolute(work, ours, ">= 0.7 x its speed", false);
  row.baseline = "nginx, WebDAV module, files in memory as ours, same client";
  row.baseline_p50_ms = theirs.p50();
  row.ratio = theirs.empty() ? 0 : theirs.p50() / ours.p50();
  row.met = row.ratio >= 0.7;
  row.note = fmt::format("{:.0f} MB/s", 1.048576 * static_cast<double>(kFileMiB) / ours.p50() * 1000);
  if (!no_nginx.empty()) row.skipped = "nginx is missing: " + no_nginx;
  return row;
}

}  // namespace

Task<Result<BenchRows>> bench_file_transfer(SandboxBench bench) {
  Transfer ours, theirs;
  std::string no_nginx;
  const auto work = [&]() -> Result<void> {
    BJ_TRY(const BenchServer server, BenchServer::start(server_directory(bench.options)));
    BJ_TRY(PlainClient client, PlainClient::connect(server.port(), server.key()));
    BJ_TRY(const std::string id, create(client, "{\"timeout\": 3600, \"limits\": {\"disk_bytes\": 314572800}}"));
    Result<Nginx> nginx = Nginx::start();
    if (!nginx) no_nginx = nginx.error().what;
    std::optional<PlainClient> other;
    if (nginx) {
      BJ_TRY(other, PlainClient::connect(nginx->port(), ""));
    }
    const std::string piece(kMiB, 'x');
    for (int i = 0; i < kRounds; ++i) {
      BJ_CHECK(ours.add(client, "/v1/sandboxes/" + id + "/files?path=large", piece));
      if (other) BJ_CHECK(theirs.add(*other, "/large", piece));
    }
    return {};
  };
  BJ_CO_CHECK(co_await apart(work));
  co_return BenchRows{transfer_row("100 MB file into a sandbox", ours.up, theirs.up, no_nginx),
                      transfer_row("100 MB file out of a sandbox", ours.down, theirs.down, no_nginx)};
}

Task<Result<BenchRows>> bench_used_sandboxes(SandboxBench bench) {
  constexpr int kAround = 20;
  const int count = bench.options.live_sandboxes;
  Sample first, last;
  double each_kb = 0;
  const auto work = [&]() -> Result<void> {
    BJ_TRY(const BenchServer server, BenchServer::start(server_directory(bench.options)));
    BJ_TRY(PlainClient client, PlainClient::connect(server.port(), server.key()));
    const double before = available_kb();
    for (int i = 0; i < count + kAround; ++i) {
      if (i == count) each_kb = (before - available_kb()) / count;
      const Stopwatch watch;
      BJ_TRY(const std::string id, create(client));
      if (i < kAround) first.add(watch.ms());
      if (i >= count) last.add(watch.ms());
      BJ_CHECK(run_true(client, id));
    }
    return {};
  };
  BJ_CO_CHECK(co_await apart(work));
  BenchRow memory = absolute(fmt::format("{} live sandboxes, each having run a command, MB each", count), {},
                             "<= 1.5 MB each", each_kb <= 1.5 * 1024);
  memory.ratio = each_kb / 1024;
  memory.note = fmt::format("{:.0f} KB each", each_kb);
  BenchRow more = absolute("one more create then, native API", last, "<= 2 x", last.p50() <= 2 * first.p50());
  more.baseline = "the first creates";
  more.baseline_p50_ms = first.p50();
  more.ratio = last.p50() / first.p50();
  co_return BenchRows{memory, more};
}

}  // namespace bj
