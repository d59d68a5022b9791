#include "engine/environments/environment_build.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <map>

#include "engine/environments/environment_network.h"
#include "engine/environments/environment_output.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr const char* kPrepareScript = "/opt/belljar/python/prepare_environment.py";
constexpr const char* kPip = "/tmp/belljar-pip";
constexpr const char* kPipRequirements = "/tmp/belljar-requirements.txt";
constexpr const char* kCertificates = "/tmp/belljar-certificates.pem";
constexpr const char* kFreshDirectory = "/tmp/belljar-packages";
constexpr const char* kVirtualPython = "/opt/packages/bin/python3";
constexpr long kOverlayMagic = 0x794c7630;
constexpr size_t kLongestLine = 300, kErrorsKept = 16u << 10, kTextKept = 4096;
constexpr auto kBetweenLines = std::chrono::milliseconds(50);

// "^1.2", "latest": what stands behind the name's "@".
std::pair<std::string, std::string> npm_parts(const std::string& requirement) {
  const size_t at = requirement.find('@', 1);
  if (at == std::string::npos) return {requirement, "latest"};
  return {requirement.substr(0, at), requirement.substr(at + 1)};
}

Result<std::string> package_json(const std::vector<std::string>& requirements) {
  std::map<std::string, std::string> wanted;
  for (const std::string& requirement : requirements) {
    const auto [name, version] = npm_parts(requirement);
    const auto [found, fresh] = wanted.emplace(name, version);
    if (!fresh && found->second != version) {
      return fail(Code::kInvalid,
                  fmt::format("{} is required twice, as {} and as {}: choose one", name, found->second, version));
    }
  }
  boost::json::object dependencies;
  for (const auto& [name, version] : wanted) dependencies[name] = version;
  return boost::json::serialize(boost::json::object{{"private", true}, {"dependencies", std::move(dependencies)}});
}

bool is_site_directory(const std::string& path) {
  return path.starts_with("/opt/packages/lib/python") && path.size() < 200 && path.find("..") == std::string::npos &&
         std::all_of(path.begin(), path.end(), [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

const char* phase_name(BuildPhase phase) {
  switch (phase) {
    case BuildPhase::kWaiting: return "waiting";
    case BuildPhase::kPreparing: return "preparing";
    case BuildPhase::kInstalling: return "installing";
    case BuildPhase::kCompiling: return "compiling";
    case BuildPhase::kCopying: return "copying";
  }
  return "";
}

Limits build_limits() {
  constexpr uint64_t kGib = 1ull << 30;
  const uint64_t machine =
      static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  Limits limits;
  limits.wall_ms = 15 * 60'000;
  limits.memory_bytes = std::clamp<uint64_t>(machine / 4 * 3, kGib, 6 * kGib);  // of processes and of what they write
  limits.disk_bytes = std::max<uint64_t>(limits.memory_bytes * 2 / 3, kGib);
  limits.processes = 512;
  limits.open_files = 4096;
  return limits;
}

EnvironmentBuilder::EnvironmentBuilder(Host& host, BuildJob job, Progress progress)
    : host_(host), job_(std::move(job)), progress_(std::move(progress)), limits_(build_limits()) {}

void EnvironmentBuilder::kill() {
  killed_ = true;
  if (sandbox_) sandbox_->kill();
}

void EnvironmentBuilder::tell(BuildPhase phase, const std::string& message, std::optional<double> fraction) {
  phase_ = phase;
  told_ = Clock::now();
  if (progress_) progress_({phase, printable(masked(message, job_.index), kLongestLine), fraction});
}

// A package that prints without end must not drown its listeners.
void EnvironmentBuilder::tell_line(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  const size_t from = std::min(line.find_first_not_of(' '), line.size());
  line.remove_prefix(from);
  if (line.empty() || Clock::now() - told_ < kBetweenLines) return;
  tell(phase_, std::string(line.substr(0, kLongestLine)), {});
}

Task<Result<void>> EnvironmentBuilder::open_sandbox() {
  SandboxSpec spec;
  spec.image = job_.image;
  spec.image.sudo = false;
  spec.image.workdir.clear();
  spec.limits = limits_;
  spec.user = "user";
  spec.network = co_await builders_network(job_.index);
  spec.on_network = noting(network_, [this](const GateEvent& event) { on_network(event); });
  BJ_CO_TRY(sandbox_, co_await Sandbox::create(host_, std::move(spec)));
  if (!host_.uids) root_ = sandbox_->account();
  deadline_ = Clock::now() + std::chrono::milliseconds(limits_.wall_ms);
  sandbox_->expire_at(deadline_);
  co_return Result<void>();
}

// Called after the event was noted: a refusal is told the first time.
void EnvironmentBuilder::on_network(const GateEvent& event) {
  const bool refused = event.kind == GateEvent::Kind::kNameDenied || event.kind == GateEvent::Kind::kConnectionDenied;
  if (!refused || network_->denied.empty()) return;
  const NetworkUse::Refused& last = network_->denied.back();
  const bool fresh = last.times == 1 && last.host == event.host && last.port == event.port;
  if (fresh) tell(phase_, "network: " + refusal_text(last), {});
}

Task<Result<void>> EnvironmentBuilder::put(std::string path, std::string text, unsigned mode, Account owner) {
  (void)co_await sandbox_->warden().remove(path, FileType::kRegular, owner.uid, owner.gid);  // it may be a link
  BJ_CO_TRY(const Fd file, co_await sandbox_->warden().open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode,
                                                            owner.uid, owner.gid, FileType::kRegular));
  co_return write_all(file.get(), text, path);
}

// The packages' directory becomes the user's own; the index can be found.
Task<Result<void>> EnvironmentBuilder::make_room() {
  const Account user = sandbox_->account();
  WardenClient& warden = sandbox_->warden();
  (void)co_await warden.remove(kPackagesInside, FileType::kDirectory, root_.uid, root_.gid);
  BJ_CO_CHECK(co_await warden.make_directory(kFreshDirectory, 0755, user.uid, user.gid));
  BJ_CO_CHECK(co_await warden.rename(kFreshDirectory, kPackagesInside, root_.uid, root_.gid));
  if (!job_.index.certificates.empty()) {
    BJ_CO_CHECK(co_await put(kCertificates, job_.index.certificates, 0644, user));
  }
  co_return Result<void>();
}

ProcessSpec EnvironmentBuilder::installer(std::vector<std::string> arguments) const {
  ProcessSpec process;
  process.arguments = std::move(arguments);
  process.environment = job_.index.variables;
  process.environment["PIP_CONFIG_FILE"] = "/dev/null";
  process.environment["PYTHONUNBUFFERED"] = "1";
  process.environment["NO_COLOR"] = "1";
  process.environment["TERM"] = "dumb";
  if (!job_.index.certificates.empty()) {
    for (const char* name : {"PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
                             "npm_config_cafile"}) {  // npm with a file configured looks at no other
      process.environment[name] = kCertificates;
    }
  }
  return process;
}

tl::unexpected<Error> EnvironmentBuilder::ended_early() const {
  if (killed_) return fail(Code::kUnavailable, "the build was stopped");
  if (Clock::now() >= deadline_) {
    return fail(Code::kUnavailable,
                fmt::format("the installer took longer than {} minutes and was stopped", limits_.wall_ms / 60'000));
  }
  return fail(Code::kUnavailable, "the builder's sandbox ended early");
}

Task<Result<EnvironmentBuilder::Output>> EnvironmentBuilder::perform(Step step) {
  tell(step.phase, step.message, step.fraction);
  Result<Process> process = co_await sandbox_->start(std::move(step.process));
  if (!process && process.error().code == Code::kNotFound) co_return fail(Code::kUnavailable, step.program_missing);
  if (!process) co_return tl::unexpected(process.error());
  process->input.reset();
  const auto on_line = [this](std::string_view line) { tell_line(line); };
  const auto text = std::make_shared<LineReader>(host_.executor, std::move(process->output), on_line, kTextKept);
  const auto errors = std::make_shared<LineReader>(host_.executor, std::move(process->error), on_line, kErrorsKept);
  text->start();
  errors->start();
  const Result<ExitReport> exit = co_await process->exit->get();
  Output output{exit ? exit->status : -1, text->finish(), errors->finish()};
  if (!exit) co_return ended_early();
  co_return output;
}

tl::unexpected<Error> EnvironmentBuilder::failed(const Output& output) const {
  std::string text = relevant_lines(job_.language, masked(output.errors, job_.index));
  if (text.empty()) {
    text =
        fmt::format("the installer ended with {} {} and said nothing", WIFEXITED(output.status) ? "status" : "signal",
                    WIFEXITED(output.status) ? WEXITSTATUS(output.status) : WTERMSIG(output.status));
  }
  if (sandbox_->usage().memory_kills > 0) {
    text += fmt::format("\n(it was stopped at its {} MiB of memory)", limits_.memory_bytes >> 20);
  }
  if (output.errors.find("No space left on device") != std::string::npos ||
      output.errors.find("ENOSPC") != std::string::npos || output.errors.find("File too large") != std::string::npos) {
    text += fmt::format("\n(a build may write {} MiB)", limits_.disk_bytes >> 20);
  }
  for (const auto* list : {&network_->denied, &network_->failed}) {
    for (const NetworkUse::Refused& refused : *list) text += "\nnetwork: " + refusal_text(refused);
  }
  return fail(Code::kUnavailable, std::move(text));
}

Task<Result<void>> EnvironmentBuilder::succeed(Step step) {
  BJ_CO_TRY(const Output output, co_await perform(std::move(step)));
  if (output.status != 0) co_return failed(output);
  co_return Result<void>();
}

Task<Result<void>> EnvironmentBuilder::install_python(Built& built) {
  Step prepare;
  prepare.message = "making a virtual environment";
  prepare.program_missing = "the template has no usable \"" + job_.interpreter + "\"";
  prepare.process.arguments = {job_.interpreter, "-I", kPrepareScript, kPackagesInside, kPip};
  prepare.phase = BuildPhase::kPreparing;
  BJ_CO_TRY(const Output prepared, co_await perform(std::move(prepare)));
  if (prepared.status != 0) co_return failed(prepared);
  const std::string site = prepared.text.substr(0, prepared.text.find('\n'));
  if (!is_site_directory(site))
    co_return fail(Code::kUnavailable, "the virtual environment has no directory for packages");
  built.site_dirs = {site};

  BJ_CO_CHECK(co_await put(kPipRequirements, fmt::format("{}\n", fmt::join(job_.requirements, "\n")), 0644,
                           sandbox_->account()));
  Step install;
  install.message = fmt::format("pip install {}", fmt::join(job_.requirements, " "));
  install.process = installer({kVirtualPython, std::string(kPip) + "/pip", "install", "--no-input", "--no-cache-dir",
                               "--disable-pip-version-check", "--no-compile", "--use-pep517",
                               "--no-warn-script-location", "--progress-bar", "off", "-r", kPipRequirements});
  install.fraction = 0.1;
  BJ_CO_CHECK(co_await succeed(std::move(install)));

  // Unchecked: what is mounted read-only never changes. Packages hold files that don't compile; that is no failure.
  Step compile;
  compile.message = "compiling what was installed";
  compile.process.arguments = {kVirtualPython,   "-I", "-m", "compileall", "-qq", "-j", "2", "--invalidation-mode",
                               "unchecked-hash", site};
  compile.phase = BuildPhase::kCompiling;
  compile.fraction = 0.8;
  BJ_CO_TRY(const Output compiled, co_await perform(std::move(compile)));
  (void)compiled;
  co_return Result<void>();
}

Task<Result<void>> EnvironmentBuilder::install_node() {
  const Account user = sandbox_->account();
  BJ_CO_TRY(const std::string wanted, package_json(job_.requirements));
  BJ_CO_CHECK(co_await put(std::string(kPackagesInside) + "/package.json", wanted, 0644, user));
  if (!job_.index.npmrc.empty()) BJ_CO_CHECK(co_await put(user.home + "/.npmrc", job_.index.npmrc, 0600, user));
  Step install;
  install.message = fmt::format("npm install {}", fmt::join(job_.requirements, " "));
  install.program_missing =
      "the template has no npm: install it on the host (package npm), or import a template that has it";
  install.process = installer({"npm", "install", "--no-audit", "--no-fund", "--no-update-notifier", "--no-progress",
                               "--loglevel=http", "--cache=/tmp/belljar-npm"});
  install.process.directory = kPackagesInside;
  install.fraction = 0.1;
  co_return co_await succeed(std::move(install));
}

Task<Result<void>> EnvironmentBuilder::install(Built& built) {
  BJ_CO_CHECK(co_await make_room());
  if (job_.language == Language::kPython) co_return co_await install_python(built);
  co_return co_await install_node();
}

// The directory, by descriptor, and the proof that it lies where the installer could write and nowhere else: behind a
// descriptor of /proc or /dev the host would see more than the sandbox did.
Task<Result<Fd>> EnvironmentBuilder::packages() {
  const Account user = sandbox_->account();
  BJ_CO_TRY(Fd directory, co_await sandbox_->warden().open(kPackagesInside, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0,
                                                           user.uid, user.gid, FileType::kDirectory));
  struct statfs info{};
  if (::fstatfs(directory.get(), &info) != 0) co_return Result<Fd>(fail_errno("fstatfs(packages)"));
  if (info.f_type != kOverlayMagic) co_return fail(Code::kInvalid, "the packages' directory was replaced");
  co_return std::move(directory);
}

Task<Result<Built>> EnvironmentBuilder::run(int into) {
  Built built;
  Result<void> done = co_await open_sandbox();
  if (!done) co_return tl::unexpected(done.error());
  built.builder_seal = sandbox_->seal().missing();
  const std::string& lacks = built.builder_seal;
  tell(BuildPhase::kPreparing, lacks.empty() ? "the builder's seal is whole" : "the builder's seal lacks: " + lacks,
       0.0);
  if (killed_) done = fail(Code::kUnavailable, "the build was stopped");
  if (done) done = co_await install(built);
  Result<Fd> from = fail(Code::kInternal, "");
  if (done) from = co_await packages();
  co_await sandbox_->destroy();  // from here on nothing moves in what the descriptor shows
  if (!done) co_return tl::unexpected(done.error());
  if (!from) co_return tl::unexpected(from.error());

  tell(BuildPhase::kCopying, "copying what was installed", 0.9);
  ImportLimits limits;
  limits.max_total_bytes = limits.max_file_bytes = limits_.disk_bytes;
  limits.max_entries = 400'000;
  auto work = [source = std::make_shared<Fd>(std::move(*from)), into, limits] {
    return copy_installed(source->get(), into, kPackagesInside, limits);
  };
  BJ_CO_TRY(built.counts, co_await offload(*host_.movers, std::move(work)));
  co_return built;
}

}  // namespace bj
