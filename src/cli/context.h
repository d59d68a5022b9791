// What every subcommand gets: the settings, complete once its callback runs, and a place for the exit status.
// Each command registers itself with add_NAME(app, context); main() only wires.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/settings.h"

namespace CLI {
class App;
}

namespace bj {

// Exit statuses of every command; exec passes its command's own through beside them.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;   // the tool failed
inline constexpr int kExitUsage = 2;    // wrong usage, invalid input
inline constexpr int kExitSandbox = 3;  // the sandbox could not be made
inline constexpr int kExitTimeout = 124;

inline constexpr size_t kHelpColumn = 34;  // where the explanations begin

struct Context {
  Settings settings;
  int status = kExitOk;

  std::string config;                                     // --config
  std::vector<std::function<void(Settings&)>> overrides;  // flags, in the order they came
  std::vector<std::string> after_dashes;                  // of exec: what follows "--", which the parser never sees
};

// A command of `parent`, with its help; it belongs to `parent`.
CLI::App* add_subcommand(CLI::App& parent, const std::string& name, const std::string& help);

void add_audit(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_calls(CLI::App& app, Context& context);
void add_config(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_env(CLI::App& app, Context& context);
void add_exec(CLI::App& app, Context& context);
void add_key(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_network(CLI::App& app, Context& context);
void add_credential(CLI::App& app, Context& context);
void add_sandbox(CLI::App& app, Context& context);
void add_volume(CLI::App& app, Context& context);
void add_secrets(CLI::App& app, Context& context);
void add_selftest(CLI::App& app, Context& context);
void add_serve(CLI::App& app, Context& context);
void add_template(CLI::App& app, Context& context);
void add_tool(CLI::App& app, Context& context);

}  // namespace bj
