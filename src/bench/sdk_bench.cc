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
constexpr size_t kNotCounted = 10, kAlone = 100, kBurst = 100, kRounds = 5;

// `ALONE BURST ROUNDS`: so many one after the other, then so many at once, some rounds of it, all in one process whose
// code is compiled by then: the first ten are not counted. Leaves {"alone": [ms...], "bursts": [[ms...]...], "failed",
// "why", "client_ms": its own processor time, a burst}. Between two bursts is a pause, as between two steps of an
// agent.
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

const [unheeded, count, width, rounds] = process.argv.slice(2).map(Number)
const alone = [], bursts = []
let failed = 0, why = '', client_ms = 0
for (let i = 0; i < unheeded + count; i++) {
  const { ms, sandbox } = await once()
  if (i >= unheeded) alone.push(ms)
  await sandbox.kill()
}
for (let round = 0; round < rounds; round++) {
  const before = process.cpuUsage()
  const all = await Promise.allSettled(Array.from({ length: width }, once))
  const used = process.cpuUsage(before)
  client_ms += (used.user + used.system) / 1000 / rounds
  const made = all.filter((one) => one.status === 'fulfilled').map((one) => one.value)
  bursts.push(made.map((one) => one.ms))
  for (const one of all) if (one.status !== 'fulfilled') { failed++; why = String(one.reason) }
  await Promise.allSettled(made.map((one) => one.sandbox.kill()))
  await new Promise((resolve) => setTimeout(resolve, 2000))
}
writeFileSync('result.json', JSON.stringify({ alone, bursts, failed, why, client_ms }))
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

// What the server's log says of the requests that made a sandbox and ran a command in it, two for each of those that
// came alone.
Sample server_times(const std::string& log) {
  std::vector<double> posts;
  for (size_t at = log.find("duration_ms"); at != std::string::npos; at = log.find("duration_ms", at + 1)) {
    const size_t begin = log.rfind('\n', at) + 1, end = std::min(log.find('\n', at), log.size());
    if (std::string_view(log).substr(begin, end - begin).find("POST") == std::string_view::npos) continue;
    const size_t number = log.find_first_of("0123456789", at + 11);
    std::from_chars(log.data() + number, log.data() + end, posts.emplace_back());
  }
  Sample sample;
  for (size_t i = kNotCounted; i < kNotCounted + kAlone && 2 * i + 1 < posts.size(); ++i)
    sample.add(posts[2 * i] + posts[2 * i + 1]);
  return sample;
}

Sample sample_of(const json::value& times) {
  Sample sample;
  for (const json::value& one : times.as_array()) sample.add(one.to_number<double>());
  return sample;
}

struct Measured {
  Sample alone;
  std::vector<Sample> bursts;
  int64_t failed = 0;
  std::string why;
  double client_ms = 0;
};

Task<Result<Measured>> measure(asio::any_io_executor executor, const BenchServer& server,
                               const std::string& directory) {
  const std::string url = fmt::format("http://127.0.0.1:{}", server.port());
  const std::string command = fmt::format(
      "cd {0} && rm -f result.json && E2B_API_URL={1} E2B_SANDBOX_URL={1} E2B_API_KEY={2} "
      "PATH=/usr/local/bin:/usr/bin:/bin exec node measure.mjs {3} {4} {5} {6} 2> error.txt",
      directory, url, server.key(), kNotCounted, kAlone, kBurst, kRounds);
  const Result<double> ran = co_await spawn_and_wait(executor, {"/bin/sh", "-c", command});
  if (!ran)
    co_return fail(Code::kInternal, read_file(directory + "/error.txt").value_or(ran.error().what).substr(0, 600));
  BJ_CO_TRY(const std::string text, read_file(directory + "/result.json"));
  const json::value result = json::parse(text);
  Measured measured;
  measured.alone = sample_of(result.at("alone"));
  for (const json::value& burst : result.at("bursts").as_array()) measured.bursts.push_back(sample_of(burst));
  measured.failed = result.at("failed").to_number<int64_t>();
  measured.why = result.at("why").as_string();
  measured.client_ms = result.at("client_ms").to_number<double>();
  co_return measured;
}

// The median of the rounds' medians; the first one is said beside it, because the server did not expect that one.
void put_bursts(const Measured& seen, BenchRow& row) {
  Sample medians, slowest;
  for (const Sample& burst : seen.bursts) {
    medians.add(burst.p50());
    slowest.add(burst.p99());
  }
  row.p50_ms = medians.p50();
  row.p99_ms = slowest.p50();
  row.met = seen.failed == 0 && row.p50_ms <= 200;
  row.note = fmt::format("the first such burst {:.0f} ms; the client alone computed for {:.0f} ms",
                         seen.bursts.front().p50(), seen.client_ms);
  if (seen.failed != 0) row.note = fmt::format("{} failed: {}", seen.failed, seen.why);
}

}  // namespace

Task<Result<BenchRows>> bench_sdk_create(SandboxBench bench) {
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
  const Result<Measured> seen = co_await measure(executor, server, directory);
  if (!seen) co_return skip(seen.error().what);
  const double own = server_times(read_file(server.log()).value_or("")).p50();
  alone.p50_ms = seen->alone.p50();
  alone.p99_ms = seen->alone.p99();
  alone.met = alone.p50_ms <= 20 && own <= 8;
  alone.note = fmt::format("{:.1f} ms of them the server's", own);
  put_bursts(*seen, burst);
  co_return BenchRows{alone, burst};
}

}  // namespace bj
