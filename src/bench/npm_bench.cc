// npm ci && npm run build, inside and on the host. Packages come from a cache that is filled before, so that the
// network is on neither side; files lie in memory on both.
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/baseline.h"
#include "bench/npm_project.h"
#include "bench/sandbox_bench.h"
#include "sys/files.h"
#include "sys/mount.h"

namespace bj {
namespace {

constexpr int kRounds = 5;
constexpr const char* kWork =
    "cp -r /tmp/project /tmp/work && cd /tmp/work && npm ci --offline --no-audit --no-fund --ignore-scripts && npm run build";

// A directory in memory that goes with the object.
class Scratch {
 public:
  static Result<Scratch> create() {
    char name[] = "/dev/shm/belljar-npm-XXXXXX";
    if (::mkdtemp(name) == nullptr) return fail_errno("mkdtemp");
    return Scratch(name);
  }
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  ~Scratch() {
    if (!path_.empty()) (void)remove_tree(AT_FDCWD, path_);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Result<void> write_project(const std::string& directory) {
  BJ_CHECK(make_directories(directory + "/src", 0755));
  for (const auto& [name, content] : kNpmProject)
    BJ_CHECK(write_file_atomically(directory + "/" + name, content, 0644));
  return {};
}

std::vector<std::string> on_host(const std::string& scratch, const std::string& command) {
  const std::string variables =
      fmt::format("export PATH=/usr/local/bin:/usr/bin:/bin HOME={0} npm_config_cache={0}/cache; ", scratch);
  return {"/bin/sh", "-c", variables + command};
}

// As root on the host and as root inside: npm asks who it is.
Task<Result<double>> inside(Sandbox& sandbox) {
  ProcessSpec process;
  process.arguments = {"/bin/sh", "-c", std::string("rm -rf /tmp/work; ") + kWork + " > /tmp/out 2>&1"};
  process.environment = {{"npm_config_cache", "/tmp/cache"}, {"HOME", "/tmp"}};
  process.directory = "/tmp";
  const Stopwatch watch;
  BJ_CO_TRY(const Process started, co_await sandbox.start(std::move(process)));
  BJ_CO_TRY(const ExitReport exit, co_await started.exit->get());
  const double ms = watch.ms();
  if (exit.status == 0) co_return ms;
  const Result<std::string> said = co_await sandbox.read_file("/tmp/out", 4096);
  co_return fail(Code::kUnavailable, "the build failed inside: " + said.value_or(""));
}

Task<Result<std::shared_ptr<Sandbox>>> prepared(SandboxBench& bench, const std::string& scratch) {
  SandboxSpec spec;
  spec.image = bench.image;
  spec.user = "root";
  spec.limits.disk_bytes = 1u << 30;
  spec.limits.memory_bytes = 3u << 30;
  spec.limits.processes = 512;
  MountSpec mount;
  mount.target = "/seed";
  BJ_CO_TRY(Fd tree, clone_tree(AT_FDCWD, scratch, Recursive::kNo));
  mount.tree = std::make_shared<Fd>(std::move(tree));
  spec.mounts.push_back(std::move(mount));
  spec.limits.cpus = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  BJ_CO_TRY(auto sandbox, co_await Sandbox::create(bench.engine.host(), std::move(spec)));
  ProcessSpec copy;
  copy.arguments = {"/bin/sh", "-c", "cp -r /seed/project /seed/cache /tmp/"};
  BJ_CO_TRY(const Process started, co_await sandbox->start(std::move(copy)));
  BJ_CO_TRY(const ExitReport exit, co_await started.exit->get());
  if (exit.status != 0) co_return fail(Code::kInternal, "the project could not be copied into the sandbox");
  co_return sandbox;
}

Task<Result<void>> measure(SandboxBench& bench, const std::string& scratch, Sample& ours, Sample& theirs) {
  const asio::any_io_executor executor = bench.engine.host().executor;
  BJ_CO_TRY(const auto sandbox, co_await prepared(bench, scratch));
  const std::string command = fmt::format(
      "rm -rf {0}/work; cp -r {0}/project {0}/work && cd {0}/work && npm ci --offline --no-audit --no-fund --ignore-scripts && npm run build",
      scratch);
  Result<void> failed;
  for (int i = 0; i < kRounds && failed; ++i) {
    const Result<double> host = co_await spawn_and_wait(executor, on_host(scratch, command));
    const Result<double> own = co_await inside(*sandbox);
    if (!host) failed = tl::unexpected(host.error());
    if (!own) failed = tl::unexpected(own.error());
    if (host) theirs.add(*host);
    if (own) ours.add(*own);
  }
  co_await sandbox->destroy();
  co_return failed;
}

}  // namespace

Task<Result<BenchRows>> bench_npm_build(SandboxBench bench) {
  BenchRow row;
  row.work = "npm ci && build of a small project inside";
  row.baseline = "the same on the host";
  row.goal = "<= 1.05 x";
  BJ_CO_TRY(const Scratch scratch, Scratch::create());
  BJ_CO_CHECK(write_project(scratch.path() + "/project"));
  const std::string fill = fmt::format(
      "cp -r {0}/project {0}/first && cd {0}/first && npm ci --no-audit --no-fund --ignore-scripts", scratch.path());
  const Result<double> filled = co_await spawn_and_wait(bench.engine.host().executor, on_host(scratch.path(), fill));
  if (!filled) {
    row.skipped = "not measured: npm, or its registry, can't be reached: " + filled.error().what;
    co_return BenchRows{row};
  }
  Sample ours, theirs;
  if (const Result<void> done = co_await measure(bench, scratch.path(), ours, theirs); !done) {
    row.skipped = "not measured: " + done.error().what;
    co_return BenchRows{row};
  }
  row.p50_ms = ours.p50();
  row.p99_ms = ours.p99();
  row.baseline_p50_ms = theirs.p50();
  row.ratio = ours.p50() / theirs.p50();
  row.met = row.ratio <= 1.05;
  co_return BenchRows{row};
}

}  // namespace bj
