#include "cli/flags.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/limit_fields.h"
#include "engine/templates/template.h"

namespace bj {
namespace {

Result<std::pair<std::string, std::string>> variable(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (name.empty() ||
      name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos) {
    return fail(Code::kInvalid, "\"" + text + "\" is not NAME=VALUE");
  }
  return std::pair(name, equals == std::string::npos ? process_environment(name) : text.substr(equals + 1));
}

}  // namespace

void add_global_flags(CLI::App& app, Context& context) {
  app.add_option("--config", context.config,
                 "config file (default: ~/.config/belljar/config.toml, else /etc/belljar/config.toml)")
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--data",
         [&context](const std::string& directory) {
           if (directory.empty()) throw CLI::ValidationError("--data", "needs the name of a directory");
           context.overrides.emplace_back([directory](Settings& settings) {
             settings.data_directory = directory;
             settings.origins["data"] = "flag --data";
           });
         },
         "data directory (default: /var/lib/belljar as root, else ~/.local/share/belljar)")
      ->type_name("DIR");
  app.add_option_function<std::string>(
         "--database",
         [&context](const std::string& url) {
           context.overrides.emplace_back([url](Settings& settings) {
             settings.database = url;
             settings.origins["database"] = "flag --database";
           });
         },
         "postgresql://... (default: SQLite in the data directory)")
      ->type_name("URL");
}

void add_json_flag(CLI::App& command, Context& context, const std::string& help) {
  command.add_flag_callback(
      "--json", [&context] { context.overrides.emplace_back([](Settings& settings) { settings.json = true; }); }, help);
}

void add_limit_flags(CLI::App& command, Context& context) {
  for (const LimitField& field : limit_fields()) {
    const std::string flag = flag_of(field);
    const auto set = [&context, &field, flag](const std::string& text) {
      Limits scratch;
      if (const Result<void> good = set_limit(field, text, scratch); !good)
        throw CLI::ValidationError(flag, good.error().what);
      context.overrides.emplace_back([&field, text](Settings& settings) {
        (void)set_limit(field, text, settings.limits);
        if (field.whole == &Limits::wall_ms) settings.timeout_given = true;
      });
    };
    const char* const type = field.kind == LimitKind::kTime ? "TIME" : field.kind == LimitKind::kSize ? "SIZE" : "N";
    command
        .add_option_function<std::string>(flag, set, std::string(field.help) + " [" + limit_text(field, Limits{}) + "]")
        ->type_name(type)
        ->group("Limits (SIZE: 512M, 1G; TIME: 500ms, 30s, 2m)");
  }
}

void add_sandbox_flags(CLI::App& command, Context& context) {
  command
      .add_option_function<std::string>(
          "--template",
          [&context](const std::string& name) {
            if (!valid_template_name(name))
              throw CLI::ValidationError("--template", "\"" + name + "\" can't be a template's name");
            context.overrides.emplace_back([name](Settings& settings) { settings.template_name = name; });
          },
          "what the sandbox's root is made of [base]")
      ->type_name("NAME");
  command
      .add_option_function<std::string>(
          "--require-seal",
          [&context](const std::string& level) {
            if (level != "full" && level != "any") throw CLI::ValidationError("--require-seal", "must be full or any");
            context.overrides.emplace_back(
                [level](Settings& settings) { settings.require_full_seal = level == "full"; });
          },
          "full: refuse to run if any control is missing [any]")
      ->type_name("LEVEL");
}

void add_env_flag(CLI::App& command, std::map<std::string, std::string>& into) {
  const auto set = [&into](const std::vector<std::string>& list) {
    for (const std::string& text : list) {
      const auto pair = variable(text);
      if (!pair) throw CLI::ValidationError("--env", pair.error().what);
      into[pair->first] = pair->second;
    }
  };
  command
      .add_option_function<std::vector<std::string>>("-e,--env", set,
                                                     "environment variable; NAME alone passes our own on")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

}  // namespace bj
