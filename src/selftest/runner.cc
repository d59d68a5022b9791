#include "selftest/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <boost/asio/cancellation_state.hpp>
#include <deque>

#include "selftest/canary.h"
#include "selftest/program.h"
#include "sys/files.h"

namespace bj::selftest {
namespace {

constexpr int kHalfRuns = 3;  // of a pair: as many children as may wait, and one that is forked after
constexpr auto kThenTime = std::chrono::seconds(2), kEventTime = std::chrono::seconds(2);
constexpr size_t kThenLimit = 1 << 20;
constexpr const char* kProgramPath = "/dev/shm/attack";  // writable whatever the layers are
constexpr const char* kPing = "def ping():\n    return 'pong'\n";
constexpr const char* kAskModule = "def ask():\n    import belljar_attack\n    return belljar_attack.verdict\n";

const char* word_for(GateEvent::Kind kind) {
  switch (kind) {
    case GateEvent::Kind::kNameDenied: return "unknown";
    case GateEvent::Kind::kConnectionDenied: return "denied";
    case GateEvent::Kind::kUpstreamFailed: return "failed";
    case GateEvent::Kind::kConnected: return "connected";
    case GateEvent::Kind::kSecretUsed: return "secret";
    case GateEvent::Kind::kCapReached: return "cap";
    case GateEvent::Kind::kEnded: return "ended";
  }
  return "";
}

// "denied allowed.example:81 no rule allows ...", "cap names ...", "ended allowed.example:80 sent 75 received 180"
std::string line_of(const GateEvent& event) {
  std::string line = word_for(event.kind);
  if (event.kind == GateEvent::Kind::kCapReached) return line + " " + event.cap + " " + event.decision.reason;
  line += fmt::format(" {}:{} ", event.host, event.port);
  if (event.kind != GateEvent::Kind::kEnded) return line + event.decision.reason;
  return line + fmt::format("sent {} received {}", event.bytes_sent, event.bytes_received);
}

// A directory with the attack as a module, for a zygote to import.
class Module {
 public:
  static Result<Module> make(const std::string& program) {
    std::string path = "/tmp/belljar-attack-module-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return fail_errno("mkdtemp(" + path + ")");
    Module made(std::move(path));
    BJ_CHECK(write_file_atomically(made.path_ + "/" + kModule + ".py", program + "\nverdict = attack()\n", 0644));
    return made;
  }
  Module(Module&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  Module& operator=(Module&&) = delete;
  ~Module() {
    if (!path_.empty()) (void)remove_tree(AT_FDCWD, path_);
  }
  void give_to(EnvironmentSpec& environment) const {
    environment.host_packages = path_;
    environment.site_dirs.emplace_back(kPackagesInside);
    environment.preload.emplace_back(kModule);
  }

 private:
  static constexpr const char* kModule = "belljar_attack";
  explicit Module(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

struct Job {
  const Attack* attack;
  RunAs run_as;
};

// One attack in one way. Lives as long as its coroutine.
class Attempt {
 public:
  Attempt(Engine& engine, const RunOptions& options, const Canary& canary, Job job)
      : engine_(engine), options_(options), canary_(canary), attack_(*job.attack), run_as_(job.run_as) {}

  Task<Verdict> run() {
    if (const std::string why = missing_here(); !why.empty()) co_return Verdict{Outcome::kSkipped, why};
    if (!attack_.policy_refused.empty())
      co_return Verdict{Outcome::kHeld, "the policy is refused: " + printable(attack_.policy_refused)};
    Verdict verdict{Outcome::kHeld, ""};
    if (!attack_.leave.empty()) {
      for (int i = 0; i < kHalfRuns && verdict.outcome == Outcome::kHeld; ++i) verdict = co_await once(attack_.leave);
      for (int i = 0; i < kHalfRuns && verdict.outcome == Outcome::kHeld; ++i) verdict = co_await once(attack_.program);
    } else {
      verdict = co_await once(attack_.program);
      if (attack_.must_differ) verdict = judge_difference(verdict, co_await once(attack_.program));
    }
    if (verdict.outcome == Outcome::kHeld && !attack_.event.empty()) verdict = co_await with_event(std::move(verdict));
    if (const std::string harm = canary_.harm(); !harm.empty()) co_return Verdict{Outcome::kEscaped, harm};
    if (verdict.outcome == Outcome::kHeld && co_await left_processes())
      co_return Verdict{Outcome::kEscaped, "its processes outlived it"};
    co_return verdict;
  }

 private:
  bool needs(const char* what) const {
    return std::find(attack_.needs.begin(), attack_.needs.end(), what) != attack_.needs.end();
  }

  // Calls are buried in the background: where it matters, that is waited for.
  Task<bool> left_processes() {
    const bool must_wait =
        std::find(attack_.stopped_by.begin(), attack_.stopped_by.end(), "reaper") != attack_.stopped_by.end();
    if (run_as_ == RunAs::kCall && must_wait) co_await engine_.settle(call_spec(kPing));
    co_return engine_.host().cgroups->abandoned() > abandoned_before_;
  }

  std::string missing_here() {
    if (attack_.network && !options_.no_world.empty()) return options_.no_world;
    if (!engine_.host().uids && run_as_ == RunAs::kRoot) return "rootless: there is no root inside";
    if (!engine_.host().uids && needs("sudo")) return "rootless: there is no sudo inside";
    const auto unavailable = unavailable_controls(engine_.host());
    std::string why;
    for (const std::string& name : attack_.stopped_by) {
      const auto lacking = std::find_if(unavailable.begin(), unavailable.end(),
                                        [&name](const auto& entry) { return bj::name_of(entry.first) == name; });
      if (lacking == unavailable.end()) return {};  // it must stop the attack alone
      why += (why.empty() ? "" : "; ") + name + " is unavailable: " + lacking->second;
    }
    return why;
  }

  Task<Verdict> once(const std::string& program) {
    if (run_as_ == RunAs::kCall) co_return co_await call(call_spec(program));
    if (run_as_ == RunAs::kZygote) co_return co_await call_after_import(program);
    co_return co_await execute(program);
  }

  Task<Verdict> call_after_import(const std::string& program) {
    const Result<Module> module = Module::make(program);
    if (!module) co_return Verdict{Outcome::kBroken, "the module could not be written: " + module.error().what};
    CallSpec spec = call_spec(kAskModule);
    module->give_to(spec.environment);
    co_return co_await call(std::move(spec));
  }

  CallSpec call_spec(const std::string& source) const {
    CallSpec spec;
    spec.environment.image = options_.image;
    spec.environment.interpreter = options_.interpreter;
    if (needs("numpy")) spec.environment.site_dirs = {"/usr/lib/python3/dist-packages"};
    spec.source = source;
    spec.filename = attack_.filename;
    spec.limits = attack_.limits;
    give_network(spec);
    return spec;
  }

  // Of a call or of a sandbox.
  template <class Spec>
  void give_network(Spec& spec) const {
    if (!attack_.network) return;
    spec.network = *attack_.network;
    spec.credentials = attack_.credentials;
    spec.on_network = [told = told_](const GateEvent& event) { *told += line_of(event) + "\n"; };
  }

  // A flow's end is told when the gate has seen it, which may be a moment after the program's own.
  Task<Verdict> with_event(Verdict so_far) {
    asio::steady_timer moment(co_await asio::this_coro::executor);
    const auto late = Clock::now() + kEventTime;
    while (told_->find(attack_.event) == std::string::npos && Clock::now() < late) {
      moment.expires_after(kEventTime / 100);
      (void)co_await expired(moment);
    }
    if (told_->find(attack_.event) != std::string::npos) co_return so_far;
    co_return Verdict{Outcome::kEscaped, "no event says \"" + attack_.event + "\": " + printable(*told_)};
  }

  Task<Verdict> call(CallSpec spec) {
    const auto started = Clock::now();
    const Result<CallResult> result = co_await engine_.call(std::move(spec));
    if (!result) co_return Verdict{Outcome::kBroken, "the call could not be made: " + printable(result.error().what)};
    if (needs("numpy") && result->error.name == "ModuleNotFoundError") {
      co_return Verdict{Outcome::kSkipped, "numpy is not installed"};
    }
    Verdict verdict = judge_call(attack_, *result);
    if (verdict.outcome != Outcome::kHeld) co_return verdict;
    // Whatever it did, the answer is there before the wall time is over, and the next call works.
    const auto took = Clock::now() - started;
    if (attack_.killed_by.empty() && !attack_.answer_refused &&
        took > std::chrono::milliseconds(attack_.limits.wall_ms)) {
      co_return Verdict{Outcome::kEscaped, "it held its answer up beyond the wall time"};
    }
    if (attack_.answer_refused || !attack_.killed_by.empty()) co_return co_await next_call(std::move(verdict));
    co_return verdict;
  }

  Task<Verdict> next_call(Verdict so_far) {
    CallSpec spec = call_spec(kPing);
    spec.limits.wall_ms = 20'000;
    const Result<CallResult> result = co_await engine_.call(std::move(spec));
    if (result && result->status == CallStatus::kOk && result->value == "pong") co_return so_far;
    const std::string why = result ? result->error.name + ": " + result->error.message : result.error().what;
    co_return Verdict{Outcome::kEscaped, "the next call failed: " + printable(why)};
  }

  Task<Verdict> execute(const std::string& program) {
    SandboxSpec spec;
    spec.image = options_.image;
    spec.limits = attack_.limits;
    give_network(spec);
    Result<std::shared_ptr<Sandbox>> sandbox = co_await engine_.create_sandbox(std::move(spec));
    if (!sandbox) co_return Verdict{Outcome::kBroken, "no sandbox: " + printable(sandbox.error().what)};
    Verdict verdict = co_await inside(*sandbox, program);
    co_await (*sandbox)->destroy();
    co_return verdict;
  }

  Task<Verdict> inside(std::shared_ptr<Sandbox> sandbox, const std::string& program) {
    if (const Result<void> put = co_await sandbox->write_file(kProgramPath, program, 0755); !put) {
      co_return Verdict{Outcome::kBroken, "the program could not be put in: " + printable(put.error().what)};
    }
    ProcessSpec process;
    if (attack_.filename.ends_with(".py")) process.arguments = {options_.interpreter};
    if (attack_.filename.ends_with(".sh")) process.arguments = {"/bin/sh"};
    process.arguments.emplace_back(kProgramPath);
    process.user = run_as_ == RunAs::kRoot ? "root" : "";
    const Result<ProgramEnd> end = co_await run_program(sandbox, std::move(process));
    if (!end) co_return Verdict{Outcome::kBroken, "the program could not be started: " + printable(end.error().what)};
    Verdict verdict = judge_program(attack_, *end);
    if (verdict.outcome == Outcome::kHeld && attack_.killed_by.empty() && !end->limits_hit.empty() &&
        end->limits_hit.front() == "wall time") {
      co_return Verdict{Outcome::kEscaped, "it held its end up beyond the wall time"};
    }
    if (verdict.outcome == Outcome::kHeld && attack_.then)
      co_return co_await afterwards(sandbox, *attack_.then, std::move(verdict));
    co_return verdict;
  }

  // The host's own operation on what the sandbox prepared; a sandbox that holds it up is killed.
  Task<Verdict> afterwards(std::shared_ptr<Sandbox> sandbox, Then then, Verdict so_far) {
    bool late = false;
    asio::steady_timer deadline(co_await asio::this_coro::executor, kThenTime);
    deadline.async_wait([&late, sandbox](const boost::system::error_code& error) {
      if (error) return;
      late = true;
      sandbox->kill();
    });
    const std::string seen = co_await operate(sandbox, then);
    deadline.cancel();
    if (late) co_return Verdict{Outcome::kEscaped, "the host's operation on " + then.path + " was held up"};
    if (seen.find(kCanarySecret) != std::string::npos)
      co_return Verdict{Outcome::kEscaped, "the host read its own file"};
    if (seen.starts_with("\x7f"
                         "ELF"))
      co_return Verdict{Outcome::kEscaped, "the host was given a program of its own"};
    if (seen.size() > kThenLimit) co_return Verdict{Outcome::kEscaped, "the host was given more than it asked for"};
    co_return so_far;
  }

  static Task<std::string> operate(std::shared_ptr<Sandbox> sandbox, Then then) {
    if (then.verb == Then::Verb::kWrite) {
      (void)co_await sandbox->write_file(then.path, "written by the host\n", 0644);
      co_return "";
    }
    if (then.verb == Then::Verb::kRead) {
      const Result<std::string> text = co_await sandbox->read_file(then.path, kThenLimit);
      co_return text.value_or("");
    }
    const Account& account = sandbox->account();
    const Result<Fd> directory = co_await sandbox->warden().open(then.path, O_RDONLY | O_DIRECTORY, 0, account.uid,
                                                                 account.gid, FileType::kDirectory);
    std::string names;
    if (!directory) co_return names;
    if (const auto entries = list_directory(directory->get())) {
      for (const Entry& entry : *entries) names += entry.name + "\n";
    }
    co_return names;
  }

  Engine& engine_;
  const RunOptions& options_;
  const Canary& canary_;
  const Attack& attack_;
  RunAs run_as_;
  std::shared_ptr<std::string> told_ = std::make_shared<std::string>();  // by the gate, a line an event
  size_t abandoned_before_ = engine_.host().cgroups->abandoned();
};

std::deque<Job> jobs_of(const std::vector<Attack>& attacks, const std::vector<RunAs>& only) {
  std::deque<Job> jobs;
  for (const Attack& attack : attacks) {
    for (const RunAs run_as : attack.runs) {
      if (only.empty() || std::find(only.begin(), only.end(), run_as) != only.end()) jobs.push_back({&attack, run_as});
    }
  }
  return jobs;
}

Task<void> work(Engine& engine, const RunOptions& options, const Canary& canary, std::deque<Job>& jobs,
                const OnFinding& on_finding) {
  while (!jobs.empty()) {
    const Job job = jobs.front();
    jobs.pop_front();
    const auto started = Clock::now();
    Attempt attempt(engine, options, canary, job);
    Verdict verdict = co_await attempt.run();
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - started).count();
    on_finding({job.attack->name, job.attack->title, job.attack->family, job.run_as, job.attack->stopped_by,
                std::move(verdict), ms});
  }
}

}  // namespace

Task<void> run_attacks(Engine& engine, const std::vector<Attack>& attacks, RunOptions options, OnFinding on_finding) {
  const Result<Canary> canary = Canary::place(kCanaryPath);
  if (!canary) {
    on_finding(
        {"canary", "a file that attacks look for", 0, RunAs::kExec, {}, {Outcome::kBroken, canary.error().what}, 0});
    co_return;
  }
  const auto executor = co_await asio::this_coro::executor;
  std::deque<Job> jobs = jobs_of(attacks, options.only);
  size_t working = std::max<size_t>(1, options.at_once);
  asio::steady_timer all_done(executor, Clock::time_point::max());
  const size_t lanes = working;
  for (size_t i = 0; i < lanes; ++i) {
    asio::co_spawn(executor, work(engine, options, *canary, jobs, on_finding), [&](const std::exception_ptr&) {
      if (--working == 0) all_done.cancel();
    });
  }
  while (working > 0) {
    (void)co_await expired(all_done);
    const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() == asio::cancellation_type::none) continue;
    jobs.clear();  // interrupted: what runs is waited for, nothing new begins
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  }
}

}  // namespace bj::selftest
