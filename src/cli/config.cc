// belljar config: what is set, and where.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <boost/json/array.hpp>

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/limit_fields.h"
#include "cli/rate_fields.h"
#include "cli/say.h"
#include "cli/service_options.h"
#include "cli/sizes.h"
#include "cli/table.h"
#include "engine/environments/environment_index.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kFooter =
    R"(Settings come from flags, the environment, the config file and defaults, the former over the latter. Secrets are shown
as ****. Those of the tool service have Letta's names; in the config file they stand under [tools].

Examples:
  belljar config show
  TOOL_SANDBOX_TIMEOUT=30 belljar config show --json)";

std::string origin_of(const Settings& settings, const std::string& name) {
  const auto found = settings.origins.find(name);
  return found == settings.origins.end() ? "default" : found->second;
}

std::vector<ShownSetting> own_settings(const Settings& settings) {
  std::vector<ShownSetting> all;
  const auto add = [&](const std::string& name, std::string value) {
    all.push_back({name, std::move(value), origin_of(settings, name)});
  };
  add("data", settings.data_directory);
  add("database", settings.database.empty() ? settings.data_directory + "/belljar.db" : settings.database);
  add("template", settings.template_name);
  add("interpreter", settings.interpreter);
  add("require_seal", settings.require_full_seal ? "full" : "any");
  add("letta_secret_format", settings.letta_secret_format ? "true" : "false");
  add("pass_proxies", settings.pass_proxies ? "true" : "false");
  add("calls.keep_days", std::to_string(settings.keep_calls.count() / 24));
  add("network.policy", settings.network);
  add("credentials.directory", settings.credentials_directory);
  add("templates.registries", settings.registries);
  for (const RateField& field : rate_fields()) add(field.name, rate_text(field, settings.rates));
  const SandboxSettings& sandboxes = settings.sandboxes;
  add("sandboxes.provider", sandboxes.provider);
  add("sandboxes.most_live", std::to_string(sandboxes.most_live));
  add("sandboxes.most_cpus", fmt::format("{:g}", sandboxes.most_cpus));
  add("sandboxes.most_memory", format_size(static_cast<uint64_t>(sandboxes.most_memory_bytes)));
  add("sandboxes.most_disk", format_size(static_cast<uint64_t>(sandboxes.most_disk_bytes)));
  add("sandboxes.most_stored", format_size(static_cast<uint64_t>(sandboxes.most_stored_bytes)));
  add("sandboxes.timeout", format_duration(static_cast<uint64_t>(sandboxes.timeout_s) * 1000));
  add("sandboxes.longest_timeout", format_duration(static_cast<uint64_t>(sandboxes.longest_timeout_s) * 1000));
  add("sandboxes.most_volumes", std::to_string(sandboxes.most_volumes));
  add("sandboxes.most_volume_disk", format_size(static_cast<uint64_t>(sandboxes.most_volume_bytes)));
  add("sandboxes.volume_size", format_size(static_cast<uint64_t>(sandboxes.volume_bytes)));
  add("sandboxes.domain", sandboxes.domain);
  add("sandboxes.keep_on_stop", sandboxes.keep_on_stop ? "true" : "false");
  for (const LimitField& field : limit_fields()) {
    add(std::string("limits.") + field.key, limit_text(field, settings.limits));
  }
  return all;
}

int show(const Settings& settings) {
  const Result<ToolSettings> tools = tool_settings_of(settings);
  if (!tools) return refuse(tools.error().what);
  std::vector<ShownSetting> all = own_settings(settings);
  for (ShownSetting& setting : shown_settings(*tools)) all.push_back(std::move(setting));
  for (ShownSetting& setting : all) setting.value = mask_credentials(setting.value);  // URLs may hold some
  json::array list;
  std::vector<std::vector<std::string>> rows;
  for (const ShownSetting& setting : all) {
    list.push_back({{"name", setting.name}, {"value", setting.value}, {"origin", setting.origin}});
    rows.push_back({setting.name, setting.value, setting.origin});
  }
  if (settings.json) {
    print_json(list);
  } else {
    print_table({"NAME", "VALUE", "ORIGIN"}, rows, "");
  }
  return kExitOk;
}

}  // namespace

void add_config(CLI::App& app, Context& context) {
  CLI::App* const command = add_subcommand(app, "config", "Show the settings and where each comes from");
  command->footer(kFooter);
  command->require_subcommand(1);
  CLI::App* const show_command = add_subcommand(*command, "show", "Every setting, its value and its origin");
  add_json_flag(*show_command, context, "print [{name, value, origin}]");
  show_command->callback([&context] { context.status = show(context.settings); });
}

}  // namespace bj
