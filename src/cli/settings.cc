#include "cli/settings.h"

#include <unistd.h>

#include <cstdlib>

#include "cli/config_file.h"
#include "cli/limit_fields.h"
#include "cli/rate_fields.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr size_t kLongestConfig = 1 << 20;

// "" if there is neither the XDG variable nor a home.
std::string xdg_path(const char* variable, const char* below_home, const Lookup& environment) {
  if (const std::string own = environment(variable); own.starts_with("/")) return own + "/belljar";
  if (const std::string home = environment("HOME"); home.starts_with("/")) return home + below_home;
  return {};
}

Result<void> read_config(const std::string& file, Settings& settings) {
  const Result<std::string> text = read_file(file, kLongestConfig);
  if (!text) return fail(Code::kInvalid, "the config file can't be read: " + text.error().what);
  return apply_config(*text, file, settings);
}

Result<void> find_config(const std::string& config, const Lookup& environment, Settings& settings) {
  if (!config.empty()) return read_config(config, settings);
  const std::string own = xdg_path("XDG_CONFIG_HOME", "/.config/belljar", environment);
  if (const std::string file = own + "/config.toml"; !own.empty() && ::access(file.c_str(), F_OK) == 0) {
    return read_config(file, settings);
  }
  const std::string machine = "/etc/belljar/config.toml";
  return ::access(machine.c_str(), F_OK) == 0 ? read_config(machine, settings) : Result<void>();
}

Result<void> read_variables(const Lookup& environment, Settings& settings) {
  const auto take = [&](const char* key, const char* variable, std::string& into) {
    const std::string value = environment(variable);
    if (value.empty()) return;
    into = value;
    settings.origins[key] = std::string("environment ") + variable;
  };
  take("data", "BELLJAR_DATA", settings.data_directory);
  take("template", "BELLJAR_TEMPLATE", settings.template_name);
  take("database", "BELLJAR_DATABASE", settings.database);
  take("network.policy", "BELLJAR_NETWORK", settings.network);
  take("sandboxes.provider", "SANDBOX_PROVIDER", settings.sandboxes.provider);
  take("credentials.directory", "BELLJAR_CREDENTIALS_DIRECTORY", settings.credentials_directory);
  take("templates.registries", "BELLJAR_REGISTRIES", settings.registries);
  for (const RateField& field : rate_fields()) {
    std::string value;
    take(field.name, field.variable, value);
    if (value.empty()) continue;
    const Result<void> set = set_rate(field, value, settings.rates);
    if (!set)
      return fail(Code::kInvalid, std::string("environment variable ") + field.variable + ": " + set.error().what);
  }
  for (const LimitField& field : limit_fields()) {
    const std::string name = variable_of(field);
    for (const bool in_ms : {false, true}) {
      if (in_ms && field.kind != LimitKind::kTime) continue;
      const std::string full = in_ms ? name + "_MS" : name;
      const std::string value = environment(full);
      if (value.empty()) continue;
      const Result<void> set =
          in_ms ? set_limit_ms(field, value, settings.limits) : set_limit(field, value, settings.limits);
      if (!set) return fail(Code::kInvalid, "environment variable " + full + ": " + set.error().what);
      if (field.whole == &Limits::wall_ms) settings.timeout_given = true;
      settings.origins[std::string("limits.") + field.key] = "environment " + full;
    }
  }
  return {};
}

}  // namespace

std::string process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

Result<std::string> default_data_directory(bool root, const Lookup& environment) {
  if (root) return "/var/lib/belljar";
  std::string own = xdg_path("XDG_DATA_HOME", "/.local/share/belljar", environment);
  if (own.empty()) return fail(Code::kInvalid, "HOME is not set: name a data directory with --data or BELLJAR_DATA");
  return own;
}

Result<Settings> load_settings(const std::string& config, bool root, const Lookup& environment) {
  Settings settings;
  BJ_CHECK(find_config(config, environment, settings));
  BJ_CHECK(read_variables(environment, settings));
  if (settings.data_directory.empty()) {
    // A flag may still name one: its lack is told when it is needed.
    settings.data_directory = default_data_directory(root, environment).value_or("");
  }
  return settings;
}

EngineOptions engine_options(const Settings& settings) {
  EngineOptions options;
  options.data_directory = settings.data_directory;
  options.python_pool = settings.python_pool;
  options.node_pool = settings.node_pool;
  options.gated_pool = settings.gated_pool;
  options.sandboxes_ahead = 2;
  return options;
}

EngineOptions one_shot_options(const Settings& settings) {
  EngineOptions options = engine_options(settings);
  options.python_pool.least = options.python_pool.most = options.python_pool.warm = 0;
  options.node_pool.least = options.node_pool.most = options.node_pool.warm = 0;
  options.gated_pool.least = options.gated_pool.most = options.gated_pool.warm = 0;
  options.sandboxes_ahead = 0;
  return options;
}

}  // namespace bj
