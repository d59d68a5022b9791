// create → first command answered, through the released `e2b` package for Node. What the server needed for it is read
// from its log.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <charconv>

#include "bench/baseline.h"
#include "bench/bench_server.h"
#include "bench/sandbox_bench.h"
#include "sys/files.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kPackage = "e2b@2.51.0";

// `alone COUNT` or `burst COUNT`; leaves {"times": [ms...], "failed", "why", "client_ms": its own processor time}. The
// first ten alone are not counted.
constexpr const char* kScript = R"js(
import { Sandbox } from 'e2b'
import { writeFileSync } from 'node:fs'

async function once() {
  const began = performance.now()
  const sandbox = await Sandbox.create('base', { timeoutMs: 600_000 })
  const done = await sandbox.commands.run('echo hello')
  const ms = performance.now() - began
  if (done.stdout !== 'hello\n') throw new Error('another answer: ' + done.stdout)
  return { ms, sandbox }
}

const times = []
let failed = 0, why = '', client_ms = 0
if (process.argv[2] === 'alone') {
  for (let i = 0; i < Number(process.argv[3]); i++) {
    const { ms, sandbox } = await once()
    if (i >= 10) times.push(ms)
    await sandbox.kill()
  }
} else {
  const before = process.cpuUsage()
  const all = await Promise.allSettled(Array.from({ length: Number(process.argv[3]) }, once))
  const used = process.cpuUsage(before)
  client_ms = (used.user + used.system) / 1000
  for (const one of all) {
    if (one.status === 'fulfilled') times.push(one.value.ms)
    else { failed++; why = String(one.reason) }
  }
  await Promise.allSettled(all.filter((one) => one.status === 'fulfilled').map((one) => one.value.sandbox.kill()))
}
writeFileSync('result.json', JSON.stringify({ times, failed, why, client_ms }))
)js";

Task<Result<void>> install(asio::any_io_executor executor, const std::string& directory) {
  if (::access((directory + "/installed").c_str(), F_OK) == 0) co_return Result<void>();
  BJ_CO_CHECK(make_directories(directory, 0755));
  const std::string command = fmt::format(
      "export PATH=/usr/local/bin:/usr/bin:/bin HOME=${{HOME:-/root}}; cd {0} && npm init -y && npm install --no-audit --no-fund {1} && touch installed",
      directory, kPackage);
  BJ_CO_CHECK(co_await spawn_and_wait(executor, {"/bin/sh", "-c", command}));
  co_return Result<void>();
}

// What the server says it needed for the requests that make a sandbox and start a command in it, a sandbox.
double server_ms(const std::string& log, size_t sandboxes) {
  double sum = 0;
  for (size_t at = log.find("duration_ms"); at != std::string::npos; at = log.find("duration_ms", at + 1)) {
    const size_t begin = log.rfind('\n', at) + 1, end = std::min(log.find('\n', at), log.size());
    const std::string_view line = std::string_view(log).substr(begin, end - begin);
    if (line.find("POST") == std::string_view::npos) continue;
    const size_t number = log.find_first_of("0123456789", at + 11);
    double ms = 0;
    std::from_chars(log.data() + number, log.data() + end, ms);
    sum += ms;
  }
  return sum / static_cast<double>(std::max<size_t>(sandboxes, 1));
}

struct Measured {
  Sample sample;
  int64_t failed = 0;
  std::string why;
  double client_ms = 0;
};

Task<Result<Measured>> measure(asio::any_io_executor executor, const BenchServer& server, const std::string& directory,
                               const char* mode, int count) {
  const std::string url = fmt::format("http://127.0.0.1:{}", server.port());
  const std::string command = fmt::format(
      "cd {0} && rm -f result.json && E2B_API_URL={1} E2B_SANDBOX_URL={1} E2B_API_KEY={2} "
      "PATH=/usr/local/bin:/usr/bin:/bin exec node measure.mjs {3} {4} 2> error.txt",
      directory, url, server.key(), mode, count);
  const Result<double> ran = co_await spawn_and_wait(executor, {"/bin/sh", "-c", command});
  if (!ran)
    co_return fail(Code::kInternal, read_file(directory + "/error.txt").value_or(ran.error().what).substr(0, 600));
  BJ_CO_TRY(const std::string text, read_file(directory + "/result.json"));
  const json::value result = json::parse(text);
  Measured measured;
  for (const json::value& one : result.at("times").as_array()) measured.sample.add(one.to_number<double>());
  measured.failed = result.at("failed").to_number<int64_t>();
  measured.why = result.at("why").as_string();
  measured.client_ms = result.at("client_ms").to_number<double>();
  co_return measured;
}

}  // namespace

Task<Result<BenchRows>> bench_sdk_create(SandboxBench bench) {
  constexpr int kAlone = 110, kBurst = 100;
  const asio::any_io_executor executor = bench.engine.host().executor;
  BenchRow alone, burst;
  alone.work = "create -> first command answered, e2b SDK, one after the other";
  alone.goal = "p50 <= 20 ms seen, <= 8 ms of the server";
  burst.work = "the same, 100 at once";
  burst.goal = "p50 <= 200 ms, none fails";
  const auto skip = [&](const std::string& why) {
    alone.skipped = burst.skipped = "not measured: " + why;
    return BenchRows{alone, burst};
  };
  const std::string directory = bench.options.scratch + "/sdk";
  if (const Result<void> there = co_await install(executor, directory); !there)
    co_return skip("the package could not be installed: " + there.error().what);
  BJ_CO_CHECK(write_file_atomically(directory + "/measure.mjs", kScript, 0644));
  BJ_CO_TRY(const BenchServer server,
            BenchServer::start(fmt::format("{}/server-{}", bench.options.scratch, ::getpid())));
  const Result<Measured> seen = co_await measure(executor, server, directory, "alone", kAlone);
  if (!seen) co_return skip(seen.error().what);
  const double own = server_ms(read_file(server.log()).value_or(""), kAlone);
  const Result<Measured> at_once = co_await measure(executor, server, directory, "burst", kBurst);
  if (!at_once) co_return skip(at_once.error().what);
  alone.p50_ms = seen->sample.p50();
  alone.p99_ms = seen->sample.p99();
  alone.met = seen->sample.p50() <= 20 && own <= 8;
  alone.note = fmt::format("{:.1f} ms of them the server's", own);
  burst.p50_ms = at_once->sample.p50();
  burst.p99_ms = at_once->sample.p99();
  burst.met = at_once->failed == 0 && at_once->sample.p50() <= 200;
  burst.note = fmt::format("the client alone computed for {:.0f} ms", at_once->client_ms);
  if (at_once->failed != 0) burst.note = fmt::format("{} failed: {}", at_once->failed, at_once->why);
  co_return BenchRows{alone, burst};
}

}  // namespace bj
