// belljar env: the environments of installed packages that calls share.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <boost/json/array.hpp>

#include "cli/build_view.h"
#include "cli/context.h"
#include "cli/environment.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/say.h"
#include "cli/sizes.h"
#include "cli/terminal.h"
#include "cli/with_engine.h"

namespace bj {
namespace {

namespace json = boost::json;
using WallClock = std::chrono::system_clock;

constexpr const char* kFooter =
    R"(An environment is built at its first use, in a sandbox, and shared by all calls with the same requirements.
Where packages come from: PIP_INDEX_URL, PIP_EXTRA_INDEX_URL, PIP_TRUSTED_HOST, PIP_CERT, NPM_CONFIG_REGISTRY, HTTPS_PROXY,
NO_PROXY, ~/.config/pip/pip.conf, ~/.npmrc.

Examples:
  belljar env build --pip 'pydantic>=2' --pip numpy
  belljar env build --npm lodash@4 --force
  belljar env list
  belljar env prune --unused 30d)";

struct EnvFlags {
  std::vector<std::string> pip, npm, keys;
  std::string interpreter, unused;
  bool force = false, all = false;
};

EnvironmentStore store(const Settings& settings) { return EnvironmentStore(settings.data_directory + "/environments"); }

int report(const Error& error) {
  complain(error.what);
  return status_of(error);
}

std::string when(WallClock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(WallClock::to_time_t(time)));
}

const char* language_name(Language language) { return language == Language::kPython ? "python" : "typescript"; }

json::object info_json(const StoredEnvironment& stored) {
  const EnvironmentRecord& record = stored.record;
  json::array requirements;
  for (const std::string& item : record.requirements) requirements.emplace_back(item);
  return {{"key", record.key},
          {"language", language_name(record.language)},
          {"template", record.template_name},
          {"requirements", std::move(requirements)},
          {"size_bytes", record.size_bytes},
          {"created", when(record.created)},
          {"last_used", when(stored.last_used)},
          {"in_use", stored.in_use},
          {"builder_seal", record.builder_seal}};
}

int list(const Settings& settings) {
  const auto all = store(settings).list();
  if (!all) return report(all.error());
  if (settings.json) {
    json::array out;
    for (const StoredEnvironment& stored : *all) out.push_back(info_json(stored));
    print_json(out);
    return kExitOk;
  }
  if (!all->empty()) {
    print_untrusted(STDOUT_FILENO, fmt::format("{:<12}  {:<10}  {:>9}  {:<20}  {:<6}  {}\n", "KEY", "LANGUAGE", "SIZE",
                                               "LAST USED", "IN USE", "REQUIREMENTS"));
  }
  for (const StoredEnvironment& stored : *all) {
    const EnvironmentRecord& record = stored.record;
    print_untrusted(STDOUT_FILENO,
                    fmt::format("{:<12}  {:<10}  {:>9}  {:<20}  {:<6}  {}\n", record.key.substr(0, 12),
                                language_name(record.language), format_size(record.size_bytes), when(stored.last_used),
                                stored.in_use ? "yes" : "no", fmt::join(record.requirements, " ")));
  }
  return kExitOk;
}

// Days too, which no limit needs.
Result<std::chrono::seconds> parse_age(const std::string& text) {
  if (text.ends_with('d')) {
    BJ_TRY(const uint64_t days, parse_count(text.substr(0, text.size() - 1)));
    return std::chrono::hours(24 * std::min<uint64_t>(days, 100'000));
  }
  BJ_TRY(const uint64_t ms, parse_duration_ms(text));
  return std::chrono::seconds(ms / 1000);
}

int prune(const EnvFlags& flags, const Settings& settings) {
  PruneRequest request;
  request.keys = flags.keys;
  request.all = flags.all;
  if (!flags.unused.empty()) {
    const auto age = parse_age(flags.unused);
    if (!age) return refuse("--unused: " + age.error().what);
    request.unused_for = *age;
  }
  if (request.keys.empty() && !request.all && !request.unused_for) {
    return refuse("say what to remove: keys of `belljar env list`, --unused TIME, or --all");
  }
  const auto done = store(settings).prune(request);
  if (!done) return report(done.error());
  if (settings.json) {
    json::array removed, in_use;
    for (const std::string& key : done->removed) removed.emplace_back(key);
    for (const std::string& key : done->in_use) in_use.emplace_back(key);
    print_json(json::object{{"removed", removed}, {"in_use", in_use}, {"freed_bytes", done->freed_bytes}});
    return kExitOk;
  }
  for (const std::string& key : done->in_use) complain(key.substr(0, 12) + " is in use and stays");
  print_untrusted(STDOUT_FILENO,
                  fmt::format("{} removed, {} freed\n", done->removed.size(), format_size(done->freed_bytes)));
  return kExitOk;
}

Task<int> build(Engine& engine, const EnvFlags& flags, const Settings& settings) {
  const Result<Template> image = engine.templates().find(settings.template_name);
  if (!image) co_return report(image.error());
  json::array built;
  for (const Language language : {Language::kPython, Language::kTypeScript}) {
    EnvironmentRequest request;
    request.language = language;
    request.image = *image;
    request.interpreter = interpreter_for(settings, flags.interpreter);
    request.requirements = language == Language::kPython ? flags.pip : flags.npm;
    request.index = index_settings();
    if (request.requirements.empty()) continue;
    const std::vector<std::string> requirements = request.requirements;
    const Force force = flags.force ? Force::kRebuild : Force::kNo;
    const auto environment = co_await ensure_shown(engine, std::move(request), force, ShowBuild::kAlways);
    if (co_await interrupted()) co_return kExitFailed;
    if (!environment) co_return report(install_error(language, requirements, environment.error()));
    built.push_back(json::object{{"key", environment->key},
                                 {"language", language_name(language)},
                                 {"path", environment->path},
                                 {"built", environment->built}});
    if (!settings.json) print_untrusted(STDOUT_FILENO, environment->key + "\n");
  }
  if (settings.json) print_json(built);
  co_return kExitOk;
}

void add_build(CLI::App& command, const std::shared_ptr<EnvFlags>& flags, Context& context) {
  CLI::App* const build_command =
      add_subcommand(command, "build", "Install packages now, so that the first call is quick");
  add_requirement_flags(*build_command, flags->pip, flags->npm);
  build_command->add_flag("--force", flags->force, "build it again even if it is there");
  build_command->add_option("--interpreter", flags->interpreter, "Python in the template [python3]")->type_name("PATH");
  add_sandbox_flags(*build_command, context);
  add_json_flag(*build_command, context, "print [{key, language, path, built}]");
  build_command->callback([flags, &context] {
    if (flags->pip.empty() && flags->npm.empty()) {
      context.status = refuse("say what to install: --pip NAME or --npm NAME");
      return;
    }
    context.status = with_engine(context.settings, one_shot_options(context.settings),
                                 [&](Engine& engine) { return build(engine, *flags, context.settings); });
  });
}

}  // namespace

void add_env(CLI::App& app, Context& context) {
  auto flags = std::make_shared<EnvFlags>();
  CLI::App* const command = add_subcommand(app, "env", "List, build and remove environments of installed packages");
  command->footer(kFooter);
  command->require_subcommand(1);

  CLI::App* const list_command = add_subcommand(*command, "list", "All environments, the last used first");
  add_json_flag(
      *list_command, context,
      "print [{key, language, template, requirements, size_bytes, created, last_used, in_use, builder_seal}]");
  list_command->callback([&context] { context.status = list(context.settings); });

  add_build(*command, flags, context);

  CLI::App* const prune_command = add_subcommand(*command, "prune", "Remove environments that nobody uses now");
  prune_command->add_option("keys", flags->keys, "which: keys or their first characters, at least 6")->type_name("KEY");
  prune_command->add_option("--unused", flags->unused, "those not used for that long: 12h, 30d")->type_name("TIME");
  prune_command->add_flag("--all", flags->all, "all of them");
  add_json_flag(*prune_command, context, "print {removed, in_use, freed_bytes}");
  prune_command->callback([flags, &context] { context.status = prune(*flags, context.settings); });
}

}  // namespace bj
