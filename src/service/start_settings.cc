#include "service/start_settings.h"

#include "tools/stored_json.h"

namespace bj {
namespace {

namespace json = boost::json;

bool is_set(const TextSetting& setting) { return setting.value && !setting.value->empty(); }

// Blocks.
Result<SandboxConfigRow> configure(const ToolSettings& settings, ConfigManager& configs) {
  const Actor actor;  // the default user of the default organization
  BJ_TRY(SandboxConfigRow row, configs.find_or_create(actor, SandboxType::kLocal));
  if (!is_set(settings.exec_dir) && !is_set(settings.venv_name)) return row;
  json::object fields = stored_object(row.config);
  if (is_set(settings.exec_dir)) fields["sandbox_dir"] = *settings.exec_dir.value;
  fields["use_venv"] = is_set(settings.venv_name);
  if (is_set(settings.venv_name)) fields["venv_name"] = *settings.venv_name.value;
  return configs.put_as(actor, SandboxType::kLocal, fields);
}

}  // namespace

Task<Result<void>> apply_start_settings(const ToolSettings& settings, ConfigManager& configs, ToolRunner& runner,
                                        asio::thread_pool& threads) {
  const auto change = [&] { return configure(settings, configs); };
  BJ_CO_TRY(SandboxConfigRow row, co_await offload(threads, change));
  if (is_set(settings.venv_name) && *settings.autoreload_venv) {
    BJ_CO_CHECK(co_await runner.rebuild_environment(std::move(row)));
  }
  co_return Result<void>();
}

}  // namespace bj
