// A control without a test that fails when it is off is a comment. Here every control is switched off, one at a time,
// in a build that has switches (BELLJAR_TEST_SWITCHES; a release has none), and the attacks that this control alone
// stops are run: at least one must then succeed. With nothing switched off, none does.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <iostream>
#include <map>

#include "engine/engine.h"
#include "selftest/attack_base.h"
#include "selftest/attack_files.h"
#include "selftest/attack_world.h"
#include "selftest/runner.h"
#include "selftest/table.h"
#include "sys/files.h"
#include "sys/pipe.h"

namespace bj::selftest {
namespace {

namespace json = boost::json;

constexpr const char* kSecretVariable = "BELLJAR_SELFTEST_SECRET";
constexpr uint64_t kMoreOutput = 1 << 20;

// Everything that is switched off: the controls of seal/control.h and what the engine enforces beside them.
const std::vector<std::string> kSwitches = {
    "userns", "pidns", "mountns", "netns", "ipcns", "utsns", "cgroupns", "root", "readonly", "idmap", "proc", "dev",
    "caps", "nnp", "seccomp", "landlock", "rlimits", "memory", "cpu", "pids", "disk", "fds", "uid", "session",
    "environment", "hostname", "wall", "output", "result", "reaper", "mask",
    // of the gate, launcher/gate_control.h
    "gate-refusal", "gate-admission", "gate-names", "gate-decision", "gate-private", "gate-pinning", "gate-hello",
    "gate-requests", "gate-single", "gate-caps", "gate-turns"};

const std::map<std::string, std::string> kNotSwitched = {
    {"io", "what a sandbox writes lies in memory, so no attack can be slowed down by it"}};

// Ways of running in which a missing control would touch the host rather than the sandbox, or leave no sandbox at all.
std::vector<RunAs> ways(const std::string& control) {
  static const std::map<std::string, std::vector<RunAs>> kOnly = {{"pidns", {RunAs::kCall}},
                                                                  {"mountns", {RunAs::kCall}},
                                                                  {"ipcns", {RunAs::kCall}},
                                                                  {"fds", {RunAs::kCall}},
                                                                  {"session", {RunAs::kCall}},
                                                                  {"reaper", {RunAs::kCall}},
                                                                  {"userns", {RunAs::kExec, RunAs::kRoot}},
                                                                  {"utsns", {RunAs::kExec, RunAs::kRoot}},
                                                                  {"root", {RunAs::kExec, RunAs::kRoot}},
                                                                  {"nnp", {RunAs::kExec, RunAs::kRoot}}};
  const auto found = kOnly.find(control);
  return found == kOnly.end() ? std::vector<RunAs>() : found->second;
}

std::vector<Attack> attacks_stopped_by_one_control() {
  Result<std::vector<Attack>> attacks = parse_attacks(embedded_attack_files());
  if (!attacks) throw std::runtime_error(attacks.error().what);
  std::erase_if(*attacks, [](const Attack& attack) { return attack.stopped_by.size() != 1; });
  return std::move(*attacks);
}

std::vector<Attack> attacks_stopped_by(const std::string& control) {
  std::vector<Attack> attacks = attacks_stopped_by_one_control();
  std::erase_if(attacks, [&control](const Attack& attack) { return attack.stopped_by.front() != control; });
  for (Attack& attack : attacks) {
    if (control == "wall") attack.limits.wall_ms = 0;
    if (control == "output") attack.limits.output_bytes = kMoreOutput;
    if (control == "mountns") attack.leave = attack.program;  // what a call mounts is for the next to see
  }
  return attacks;
}

std::string data_directory() {
  const char* wanted = ::getenv("BELLJAR_TEST_DATA");
  return wanted != nullptr ? wanted : "/tmp/belljar-mutation";
}

bool need_servers(const std::vector<Attack>& attacks) {
  return std::any_of(attacks.begin(), attacks.end(), [](const Attack& attack) { return attack.network.has_value(); });
}

// The servers of attacks on the network: started once, for all.
const Result<AttackWorld>& servers() {
  static const Result<AttackWorld> world = AttackWorld::start();
  return world;
}

Result<void> go_among_servers(const std::vector<Attack>& attacks) {
  if (!need_servers(attacks)) return {};
  return servers() ? servers()->enter() : Result<void>(tl::unexpected(servers().error()));
}

// In a process of its own: an engine's launcher is forked from a process without threads, and an engine has some.
std::string run_in_child(const std::string& without, const std::vector<Attack>& attacks,
                         const std::vector<RunAs>& only) {
  ::setenv(kSecretVariable, "no sandbox may see this", 1);
  asio::io_context context(1);
  EngineOptions options;
  options.data_directory = data_directory();
  options.python_pool = kAttackPool;
  options.without = without;
  const Result<void> entered = go_among_servers(attacks);
  const auto engine = Engine::create(context, std::move(options));
  if (!engine) return R"({"error":"no engine"})";
  std::vector<Finding> findings;
  std::string error;
  asio::co_spawn(
      context,
      [&]() -> Task<void> {
        const Result<void> started = co_await (*engine)->start();
        const Result<AttackBase> base = AttackBase::make((*engine)->templates(), "base");
        if (started && base) {
          RunOptions run;
          run.image = base->image;
          run.image.sudo = without != "idmap";  // root inside can't make its socket where it owns nothing
          run.only = only;
          if (!entered) run.no_world = entered.error().what;
          co_await run_attacks(**engine, attacks, std::move(run), [&](const Finding& f) { findings.push_back(f); });
        } else {
          error = started ? base.error().what : started.error().what;
        }
        co_await (*engine)->stop();
      },
      asio::detached);
  context.run();
  return to_json(findings, {error});
}

json::array run(const std::string& without, const std::vector<Attack>& attacks, const std::vector<RunAs>& only) {
  const Result<Pipe> pipe = make_pipe();
  if (!pipe) throw std::runtime_error(pipe.error().what);
  if (need_servers(attacks)) (void)servers();  // by us, not by each child
  const pid_t child = ::fork();
  if (child == 0) {
    (void)write_all(pipe->write.get(), run_in_child(without, attacks, only), "pipe");
    ::_exit(0);
  }
  const_cast<Fd&>(pipe->write).reset();
  const std::string text = read_all(pipe->read.get(), 16u << 20, "pipe").value_or("");
  int status = 0;
  ::waitpid(child, &status, 0);
  boost::system::error_code error;
  const json::value report = json::parse(text, error);
  if (error || !report.is_object() || !report.get_object().contains("attacks")) return {};
  return report.at("attacks").get_array();
}

std::string line(const json::value& finding) {
  return std::string(finding.at("verdict").as_string()) + "  " + std::string(finding.at("attack").as_string()) + " (" +
         std::string(finding.at("runs").as_string()) + "): " + std::string(finding.at("detail").as_string());
}

size_t count_verdicts(const json::array& findings, std::string_view verdict) {
  size_t n = 0;
  for (const json::value& finding : findings) n += finding.at("verdict").as_string() == verdict ? 1 : 0;
  return n;
}

class MutationTest : public testing::TestWithParam<std::string> {};

TEST_P(MutationTest, WithoutTheControlAnAttackSucceeds) {
  const std::string control = GetParam();
  const json::array findings = run(control, attacks_stopped_by(control), ways(control));
  std::string lines;
  for (const json::value& finding : findings) lines += "  " + line(finding) + "\n";
  std::cout << "without " << control << ":\n" << lines;
  EXPECT_GT(count_verdicts(findings, name_of(Outcome::kEscaped)), 0u) << lines;
}

INSTANTIATE_TEST_SUITE_P(EachControl, MutationTest, testing::ValuesIn(kSwitches),
                         [](const testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Walls behind each other: with all that an attack names switched off, it gets through. Of those that name the gate.
std::vector<Attack> attacks_behind_several_walls() {
  std::vector<Attack> attacks = parse_attacks(embedded_attack_files()).value();
  std::erase_if(attacks, [](const Attack& attack) {
    return attack.stopped_by.size() < 2 || !attack.stopped_by.front().starts_with("gate-");
  });
  return attacks;
}

TEST(SeveralWallsTest, WithAllOfThemOffTheAttackSucceedsAndWithOneOffItDoesNot) {
  const std::vector<Attack> attacks = attacks_behind_several_walls();
  EXPECT_GE(attacks.size(), 2u);
  for (const Attack& attack : attacks) {
    std::string all;
    for (const std::string& control : attack.stopped_by) all += (all.empty() ? "" : ",") + control;
    const json::array without_all = run(all, {attack}, {RunAs::kRoot});
    EXPECT_EQ(count_verdicts(without_all, name_of(Outcome::kEscaped)), 1u)
        << attack.name << (without_all.empty() ? "" : line(without_all[0]));
    const json::array without_one = run(attack.stopped_by.front(), {attack}, {RunAs::kRoot});
    EXPECT_EQ(count_verdicts(without_one, name_of(Outcome::kHeld)), 1u)
        << attack.name << (without_one.empty() ? "" : line(without_one[0]));
  }
}

TEST(WholeSealTest, WithNothingSwitchedOffTheSameAttacksAreHeld) {
  const json::array findings = run("", attacks_stopped_by_one_control(), {});
  EXPECT_GT(count_verdicts(findings, name_of(Outcome::kHeld)), 100u);
  for (const json::value& finding : findings) {
    EXPECT_TRUE(finding.at("verdict").as_string() == "held" || finding.at("verdict").as_string() == "skipped")
        << line(finding);
  }
}

TEST(CoverageTest, EveryControlIsSwitchedOffOrSaysWhyNot) {
  for (size_t i = 1; i < kControlNames.size(); ++i) {
    const std::string name(kControlNames[i]);
    const bool switched = std::find(kSwitches.begin(), kSwitches.end(), name) != kSwitches.end();
    EXPECT_NE(switched, kNotSwitched.contains(name)) << name;
    if (kNotSwitched.contains(name)) std::cout << name << " is not switched off: " << kNotSwitched.at(name) << "\n";
  }
}

TEST(CoverageTest, EveryAttackThatNamesOneControlNamesOneThatIsSwitchedOff) {
  for (const Attack& attack : attacks_stopped_by_one_control()) {
    const std::string& control = attack.stopped_by.front();
    EXPECT_TRUE(std::find(kSwitches.begin(), kSwitches.end(), control) != kSwitches.end())
        << attack.name << ": " << control;
  }
}

}  // namespace
}  // namespace bj::selftest

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  testing::InitGoogleTest(&argc, argv);
  if (::geteuid() != 0) {
    std::cout
        << "SKIPPED: controls are switched off one at a time only where all of them can be on, which takes root\n";
    return kSkipped;
  }
  return RUN_ALL_TESTS();
}
