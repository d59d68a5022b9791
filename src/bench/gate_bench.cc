#include "bench/gate_bench.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "bench/load_program.h"
#include "egress/credential_json.h"
#include "egress/policy_json.h"

namespace bj {
namespace {

constexpr int kRounds = 5;  // both ways in turn: what the machine does meanwhile hits both
constexpr int kConnections = 32, kPaceMs = 5;
constexpr int kSmallBody = 64, kLargeBody = 1'000'000;
constexpr int kIdleSandboxes = 4, kIdleEach = 250;
constexpr const char* kName = "localhost";  // of the server; inside it is asked of the gate, not of /etc/hosts

// The server, and both ways to it.
class Ways {
 public:
  // `certificate`: a file that the server's is written to.
  static Task<Result<Ways>> open(GateBench bench, const std::string& certificate = "") {
    Words words = {"serve"};
    if (!certificate.empty()) words.push_back(certificate);
    BJ_CO_TRY(HostLoad server, HostLoad::start(bench.engine.host().executor, std::move(words)));
    BJ_CO_TRY(const std::string said, co_await server.line());  // "port N"
    co_return Ways(bench, std::move(server), said.substr(said.find(' ') + 1));
  }

  Task<Result<std::shared_ptr<Sandbox>>> sandbox(GateCredentials credentials = {}) {
    const std::string policy =
        fmt::format(R"({{"rules": [{{"allow": "{}", "ports": [{}]}}], "private_addresses": ["127.0.0.1:{}"]}})", kName,
                    port_, port_);
    SandboxSpec spec;
    spec.image = bench_.image;
    spec.credentials = std::move(credentials);
    BJ_CO_TRY(spec.network, parse_network_policy_text(policy, {"bench", PolicyAuthor::kAdministrator, {}}));
    BJ_CO_TRY(auto made, co_await bench_.engine.create_sandbox(std::move(spec)));
    const Result<void> put = co_await SandboxLoad::put(*made);
    if (!put) co_await made->destroy();
    BJ_CO_CHECK(put);
    co_return made;
  }

  // A header for every request, which the gate can only give by opening the connection.
  Result<GateCredential> header() const {
    const std::string binding = fmt::format(
        R"({{"hosts": ["{}"], "ports": [{}], "header": "Authorization", "format": "Bearer {{}}"}})", kName, port_);
    BJ_TRY(GateCredential credential, parse_credential_binding_text(binding));
    credential.name = "bench";
    credential.value = std::make_shared<const Secret>("a-value-of-the-benchmark");
    return credential;
  }

  // Each starts the program with the same words; the address is what differs.
  Task<Result<std::string>> directly(Words words) {
    words.insert(words.begin() + 1, {"127.0.0.1", kName, port_});
    BJ_CO_TRY(HostLoad load, HostLoad::start(bench_.engine.host().executor, std::move(words)));
    co_return co_await load.line();
  }
  Task<Result<SandboxLoad>> start_inside(std::shared_ptr<Sandbox> sandbox, Words words) {
    words.insert(words.begin() + 1, {"ask", kName, port_});
    return SandboxLoad::start(std::move(sandbox), std::move(words));
  }
  Task<Result<std::string>> through_the_gate(std::shared_ptr<Sandbox> sandbox, Words words) {
    BJ_CO_TRY(SandboxLoad load, co_await start_inside(std::move(sandbox), std::move(words)));
    co_return co_await load.line();
  }

 private:
  Ways(GateBench bench, HostLoad server, std::string port)
      : bench_(bench), server_(std::move(server)), port_(std::move(port)) {}

  GateBench bench_;
  HostLoad server_;
  std::string port_;
};

// What one run said, and the middle of several.
struct Figures {
  Sample p50, p99, bytes_per_second, requests;

  Result<void> add(const std::string& said) {
    double p50_ms = 0, p99_ms = 0, count = 0, speed = 0;
    if (std::sscanf(said.c_str(), "%lf %lf %lf %lf", &p50_ms, &p99_ms, &count, &speed) != 4)
      return fail(Code::kInternal, "the load program said " + said);
    p50.add(p50_ms);
    p99.add(p99_ms);
    requests.add(count);
    bytes_per_second.add(speed);
    return {};
  }
};

struct Both {
  Figures direct, gate;
};

Task<Result<Both>> measure(Ways& ways, std::shared_ptr<Sandbox> sandbox, int pace_ms, int body, double seconds) {
  Both both;
  const Words words = {"run", std::to_string(kConnections), std::to_string(pace_ms),
                       std::to_string(seconds / kRounds / 2), std::to_string(body)};
  for (int round = 0; round < kRounds; ++round) {
    BJ_CO_TRY(const std::string direct, co_await ways.directly(words));
    BJ_CO_CHECK(both.direct.add(direct));
    BJ_CO_TRY(const std::string gate, co_await ways.through_the_gate(sandbox, words));
    BJ_CO_CHECK(both.gate.add(gate));
  }
  co_return both;
}

BenchRow requests_row(const Both& both, std::string work) {
  BenchRow row;
  row.work = std::move(work);
  row.p50_ms = both.gate.p50.p50();
  row.p99_ms = both.gate.p99.p50();
  row.baseline = "the same program and server without the gate";
  row.baseline_p50_ms = both.direct.p50.p50();
  row.ratio = row.p50_ms / row.baseline_p50_ms;
  row.note =
      fmt::format("p50 {:+.3f} ms, p99 {:+.3f} ms, {:.0f} requests against {:.0f}", row.p50_ms - row.baseline_p50_ms,
                  row.p99_ms - both.direct.p99.p50(), both.gate.requests.p50(), both.direct.requests.p50());
  return row;
}

BenchRow paced_row(const Both& both) {
  BenchRow row = requests_row(both, "32 HTTPS connections through the gate, each asks every 5 ms");
  row.goal = "p50 <= +0.3 ms; p99 <= +2 ms";
  row.met = row.p50_ms - row.baseline_p50_ms <= 0.3 && row.p99_ms - both.direct.p99.p50() <= 2;
  return row;
}

BenchRow injected_row(const Both& both) {
  BenchRow row = requests_row(
      both, "32 HTTPS connections with a credential, every 5 ms: the gate opens TLS and gives each request a header");
  row.goal = "p50 <= +1 ms";
  row.met = row.p50_ms - row.baseline_p50_ms <= 1;
  return row;
}

BenchRow saturated_row(const Both& both) {
  BenchRow row = requests_row(both, "the same as fast as they can: client, server and gate compete for the cores");
  row.goal = "none, for comparison";
  row.met = true;
  return row;
}

BenchRow bytes_row(const Both& both) {
  constexpr double kMega = 1e6;
  const double gate = both.gate.bytes_per_second.p50(), direct = both.direct.bytes_per_second.p50();
  BenchRow row;
  row.work = "32 HTTPS connections through the gate, bodies of 1 MB, bytes per second";
  row.p50_ms = 1000 / (gate / kMega);
  row.baseline = "the same program and server without the gate";
  row.baseline_p50_ms = 1000 / (direct / kMega);
  row.ratio = gate / direct;
  row.goal = ">= 0.7 x";
  row.met = row.ratio >= 0.7;
  row.note = fmt::format("{:.0f} MB/s against {:.0f}; times are ms per MB", gate / kMega, direct / kMega);
  return row;
}

Task<Result<BenchRows>> load_rows(Ways& ways, std::shared_ptr<Sandbox> sandbox, double seconds) {
  BJ_CO_TRY(const Both paced, co_await measure(ways, sandbox, kPaceMs, kSmallBody, seconds));
  BJ_CO_TRY(const Both saturated, co_await measure(ways, sandbox, 0, kSmallBody, seconds));
  BJ_CO_TRY(const Both bytes, co_await measure(ways, sandbox, 0, kLargeBody, seconds));
  co_return BenchRows{paced_row(paced), saturated_row(saturated), bytes_row(bytes)};
}

// Of the sandboxes' side of this process: the gate's. The kernel's own part is in /proc/meminfo's Slab.
double resident_kb() {
  ::malloc_trim(0);
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1024;
}

Task<Result<double>> kb_for_idle(Ways& ways, std::vector<std::shared_ptr<Sandbox>>& sandboxes) {
  std::vector<SandboxLoad> held;
  const double before = resident_kb();
  for (const auto& sandbox : sandboxes) {
    BJ_CO_TRY(SandboxLoad load, co_await ways.start_inside(sandbox, {"hold", std::to_string(kIdleEach)}));
    held.push_back(std::move(load));
    BJ_CO_CHECK(co_await held.back().line());
  }
  const double after = resident_kb();
  for (SandboxLoad& load : held) co_await load.end();
  co_return after - before;
}

}  // namespace

Task<Result<BenchRows>> bench_gate_load(GateBench bench) {
  BJ_CO_TRY(Ways ways, co_await Ways::open(bench));
  BJ_CO_TRY(const auto sandbox, co_await ways.sandbox());
  Result<BenchRows> rows = co_await load_rows(ways, sandbox, bench.options.sustained_s);
  co_await sandbox->destroy();
  co_return rows;
}

// The gate checks the server, so it must trust it: by the variable that it honours, set before it reads it.
Task<Result<BenchRows>> bench_gate_credential(GateBench bench) {
  char place[] = "/tmp/belljar-bench-XXXXXX";
  const Fd file(::mkstemp(place));
  if (!file.ok()) co_return fail_errno("mkstemp");
  Result<Ways> ways = co_await Ways::open(bench, place);
  const char* const set = std::getenv("SSL_CERT_FILE");
  const std::optional<std::string> before = set != nullptr ? std::optional<std::string>(set) : std::nullopt;
  ::setenv("SSL_CERT_FILE", place, 1);
  Result<GateCredential> header = ways ? ways->header() : tl::unexpected(ways.error());
  Result<Both> both = header ? Result<Both>(Both()) : tl::unexpected(header.error());
  if (both) {
    auto sandbox = co_await ways->sandbox({std::move(*header)});
    if (!sandbox) both = tl::unexpected(sandbox.error());
    if (sandbox) both = co_await measure(*ways, *sandbox, kPaceMs, kSmallBody, bench.options.sustained_s);
    if (sandbox) co_await (*sandbox)->destroy();
  }
  ::unlink(place);
  (void)(before ? ::setenv("SSL_CERT_FILE", before->c_str(), 1)
                : ::unsetenv("SSL_CERT_FILE"));  // for later rows' programs
  BJ_CO_CHECK(both);
  co_return BenchRows{injected_row(*both)};
}

Task<Result<BenchRows>> bench_gate_first_request(GateBench bench) {
  BJ_CO_TRY(Ways ways, co_await Ways::open(bench));
  Sample direct, gate;
  for (int i = 0; i < std::max(10, bench.options.samples / 10); ++i) {
    BJ_CO_TRY(const std::string without, co_await ways.directly({"first"}));
    direct.add(std::atof(without.c_str()));
    BJ_CO_TRY(const auto sandbox, co_await ways.sandbox());
    const Result<std::string> with = co_await ways.through_the_gate(sandbox, {"first"});
    co_await sandbox->destroy();
    BJ_CO_CHECK(with);
    gate.add(std::atof(with->c_str()));
  }
  BenchRow row;
  row.work = "first request of a fresh sandbox: name, connection, TLS, answer";
  row.p50_ms = gate.p50();
  row.p99_ms = gate.p99();
  row.baseline = "the same program without the gate";
  row.baseline_p50_ms = direct.p50();
  row.ratio = gate.p50() / direct.p50();
  row.goal = "p50 <= +5 ms";
  row.met = gate.p50() - direct.p50() <= 5;
  row.note = fmt::format("{:+.3f} ms", gate.p50() - direct.p50());
  co_return BenchRows{row};
}

Task<Result<BenchRows>> bench_gate_idle_connections(GateBench bench) {
  BJ_CO_TRY(Ways ways, co_await Ways::open(bench));
  std::vector<std::shared_ptr<Sandbox>> sandboxes;
  Result<double> kb = 0.0;
  for (int i = 0; i < kIdleSandboxes && kb; ++i) {
    auto made = co_await ways.sandbox();
    if (!made) kb = tl::unexpected(made.error());
    if (made) sandboxes.push_back(std::move(*made));
  }
  if (kb) kb = co_await kb_for_idle(ways, sandboxes);
  for (const auto& sandbox : sandboxes) co_await sandbox->destroy();
  BJ_CO_CHECK(kb);
  const double each = *kb / (kIdleSandboxes * kIdleEach);
  BenchRow row;
  row.work = fmt::format("{} idle connections through the gate, KB of its process each", kIdleSandboxes * kIdleEach);
  row.ratio = each;
  row.goal = "<= 64 KB each";
  row.met = each <= 64;
  co_return BenchRows{row};
}

}  // namespace bj
