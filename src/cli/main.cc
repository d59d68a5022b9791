// The belljar command: builds the parser, loads the settings, hands over to one subcommand.
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/say.h"
#include "images/image_puller.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr const char* kFooter =
    R"(Exit status: 0 success, 1 the tool failed, 2 wrong usage, 3 the sandbox could not be made, 124 timeout.

Examples:
  belljar run weather.py --args '{"city": "Oslo"}'
  belljar exec -- sh -c 'echo hi; id'
  belljar exec -it -- bash
  belljar doctor

Settings come from flags, else from the environment (BELLJAR_DATA, BELLJAR_TEMPLATE, BELLJAR_TIMEOUT, BELLJAR_MEMORY, ...:
one for each limit), else from the config file, else from defaults. `belljar COMMAND --help` tells more.)";

// Runs once everything is parsed, before the subcommand's callback.
void load(Context& context) {
  Result<Settings> settings = load_settings(context.config, ::geteuid() == 0, process_environment);
  if (!settings) throw CLI::ValidationError(settings.error().what);
  for (const auto& apply : context.overrides) apply(*settings);
  if (settings->data_directory.empty()) {
    throw CLI::ValidationError(default_data_directory(false, process_environment).error().what);
  }
  if (!settings->data_directory.starts_with("/")) {
    char here[4096];
    if (::getcwd(here, sizeof here) != nullptr)
      settings->data_directory = std::string(here) + "/" + settings->data_directory;
  }
  context.settings = std::move(*settings);
}

void add_commands(CLI::App& app, Context& context) {
  add_run(app, context);
  add_exec(app, context);
  add_serve(app, context);
  add_sandbox(app, context);
  add_volume(app, context);
  add_tool(app, context);
  add_calls(app, context);
  add_audit(app, context);
  add_key(app, context);
  add_network(app, context);
  add_credential(app, context);
  add_secrets(app, context);
  add_config(app, context);
  add_doctor(app, context);
  add_template(app, context);
  add_env(app, context);
  add_selftest(app, context);
  add_bench(app, context);
}

// The parser gives what follows "--" to the root command. For exec it is the command, so it is taken off before.
std::vector<std::string> take_arguments(int argc, char** argv, Context& context) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end() && std::find(arguments.begin(), dashes, "exec") != dashes) {
    context.after_dashes.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  std::reverse(arguments.begin(), arguments.end());  // as the parser takes them
  return arguments;
}

// The parser's words for what was left over are in the wrong order, or not about it at all.
std::string sentence_of(const CLI::App& app, const CLI::App& command, const CLI::ParseError& error) {
  const std::vector<std::string> left = app.remaining(true);
  if (!left.empty() && !command.get_subcommands([](const CLI::App*) { return true; }).empty()) {
    return "there is no command \"" + left.front() + "\"";
  }
  if (!left.empty()) return "\"" + left.front() + "\" is not expected here";
  std::string sentence = error.what();
  while (!sentence.empty() && sentence.back() == '\n') sentence.pop_back();
  return sentence;
}

// One sentence and where to read on.
int wrong_usage(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string name = "belljar";
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  return refuse(sentence_of(app, *command, error) + " (see `" + name + " --help`)");
}

int run_command(int argc, char** argv) {
  // Not for people: a server's own images are unpacked by this program, started anew without threads.
  if (argc == 5 && std::string_view(argv[1]) == "unpack-image") return unpack_image(argv[2], argv[3], argv[4]);
  Context context;
  CLI::App app("Belljar runs tools and code of AI agents, each in a sealed sandbox of its own, on this machine.",
               "belljar");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("belljar ") + BELLJAR_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.get_formatter()->column_width(kHelpColumn);
  add_global_flags(app, context);
  add_commands(app, context);
  app.parse_complete_callback([&context] { load(context); });
  if (argc == 1) {
    std::fputs(app.help().c_str(), stderr);
    return kExitUsage;
  }
  try {
    app.parse(take_arguments(argc, argv, context));
  } catch (const CLI::Success& asked) {  // --help, --version
    app.exit(asked);
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    return wrong_usage(app, error);
  }
  return context.status;
}

}  // namespace
}  // namespace bj

int main(int argc, char** argv) {
  bj::open_missing_stdio();
  try {
    return bj::run_command(argc, argv);
  } catch (const std::exception& error) {
    bj::complain(std::string("internal error: ") + error.what());
    return bj::kExitSandbox;
  }
}
