// `belljar selftest`: the attacks of this release against this machine.
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/say.h"
#include "cli/with_engine.h"
#include "selftest/attack_base.h"
#include "selftest/attack_files.h"
#include "selftest/attack_world.h"
#include "selftest/residue.h"
#include "selftest/runner.h"
#include "selftest/table.h"

namespace bj {
namespace {

using namespace selftest;

// No sandbox may see it (14_environment); the launcher inherits it like everything of ours.
constexpr const char* kSecretVariable = "BELLJAR_SELFTEST_SECRET";

struct Wishes {
  std::string filter;
  bool list = false;
};

void list_attacks(const std::vector<Attack>& attacks) {
  for (const Attack& attack : attacks) {
    std::string runs;
    for (const RunAs run_as : attack.runs) runs += (runs.empty() ? "" : " ") + std::string(name_of(run_as));
    std::printf("%-28s %-15s %s\n", attack.name.c_str(), runs.c_str(), attack.title.c_str());
  }
}

// On a terminal one line that is written over; elsewhere only what went wrong, at once.
class Progress {
 public:
  explicit Progress(size_t total) : total_(total), terminal_(::isatty(STDERR_FILENO) == 1) {}

  void show(const Finding& finding) {
    ++done_;
    const bool bad = finding.verdict.outcome == Outcome::kEscaped || finding.verdict.outcome == Outcome::kBroken;
    if (bad) {
      std::fprintf(stderr, "%s%s: %s (%s): %s\n", terminal_ ? "\r\033[K" : "",
                   std::string(name_of(finding.verdict.outcome)).c_str(), finding.attack.c_str(),
                   std::string(name_of(finding.run_as)).c_str(), finding.verdict.detail.c_str());
    }
    if (terminal_)
      std::fprintf(stderr, "\r\033[K%zu of %zu: %s%s", done_, total_, finding.attack.c_str(),
                   done_ == total_ ? "\r\033[K" : "");
  }

 private:
  size_t total_, done_ = 0;
  bool terminal_;
};

size_t count_runs(const std::vector<Attack>& attacks) {
  size_t runs = 0;
  for (const Attack& attack : attacks) runs += attack.runs.size();
  return runs;
}

int report(const Context& context, const std::vector<Finding>& findings, const std::vector<std::string>& left_behind) {
  const Counts counts = count(findings);
  if (context.settings.json) {
    std::puts(to_json(findings, left_behind).c_str());
  } else {
    std::printf("%s\n%s\n", table(findings).c_str(), summary(counts).c_str());
    for (const std::string& thing : left_behind) std::printf("left behind: %s\n", thing.c_str());
  }
  return counts.clean() && left_behind.empty() ? kExitOk : kExitFailed;
}

// For attacks on the network. Empty where no attack needs one, or with the reason why there is none.
std::optional<AttackWorld> enter_world(const std::vector<Attack>& attacks, std::string& why_not) {
  const auto needs_one = [](const Attack& attack) { return attack.network.has_value(); };
  if (std::none_of(attacks.begin(), attacks.end(), needs_one)) return {};
  Result<AttackWorld> world = AttackWorld::start();
  Result<void> entered = world ? world->enter() : Result<void>(tl::unexpected(world.error()));
  if (!entered) why_not = entered.error().what;
  return entered ? std::optional<AttackWorld>(std::move(*world)) : std::nullopt;
}

int selftest_command(const Context& context, const Wishes& wishes) {
  Result<std::vector<Attack>> parsed = parse_attacks(embedded_attack_files());
  if (!parsed) return refuse(parsed.error().what);
  const std::vector<Attack> attacks = filtered(std::move(*parsed), wishes.filter);
  if (attacks.empty())
    return refuse("no attack's name or control is like \"" + wishes.filter + "\": --list shows them");
  if (wishes.list) {
    list_attacks(attacks);
    return kExitOk;
  }
  ::setenv(kSecretVariable, "no sandbox may see this", 1);
  std::string no_world;
  std::optional<AttackWorld> world = enter_world(attacks, no_world);
  const Before before = look_before();
  std::vector<Finding> findings;
  std::string instance;
  EngineOptions options = engine_options(context.settings);
  options.python_pool = kAttackPool;
  Progress progress(count_runs(attacks));
  const int status = with_engine(context.settings, std::move(options), [&](Engine& engine) -> Task<int> {
    instance = engine.instance();
    const Result<AttackBase> base = AttackBase::make(engine.templates(), context.settings.template_name);
    if (!base) {
      complain(base.error().what);
      co_return status_of(base.error());
    }
    RunOptions run;
    run.image = base->image;
    run.no_world = no_world;
    if (!context.settings.interpreter.empty()) run.interpreter = context.settings.interpreter;
    co_await run_attacks(engine, attacks, std::move(run), [&](const Finding& finding) {
      progress.show(finding);
      findings.push_back(finding);
    });
    co_return kExitOk;
  });
  world.reset();
  if (status != kExitOk) return status;
  return report(context, findings, residue(before, instance));
}

}  // namespace

void add_selftest(CLI::App& app, Context& context) {
  auto wishes = std::make_shared<Wishes>();
  CLI::App* command =
      add_subcommand(app, "selftest", "Run this release's attacks against itself; 0 only if every one was held");
  command->add_option("--filter", wishes->filter, "Only attacks whose name contains this, or that this control stops");
  command->add_flag("--list", wishes->list, "Only list them");
  add_json_flag(*command, context, "Print {attacks, held, escaped, broken, skipped, left_behind}");
  command->callback([&context, wishes] { context.status = selftest_command(context, *wishes); });
}

}  // namespace bj
