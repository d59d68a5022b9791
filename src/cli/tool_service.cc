#include "cli/tool_service.h"

#include <unistd.h>

#include "cli/environment.h"
#include "cli/open_store.h"

namespace bj {
namespace {

constexpr size_t kStoreThreads = 4;

LocalOptions local_options(const Settings& settings, const ToolSettings& tool_settings) {
  LocalOptions options;
  options.template_name = settings.template_name;
  options.interpreter = interpreter_for(settings, "");
  options.limits = settings.limits;
  if (!settings.timeout_given) options.limits.wall_ms = static_cast<uint64_t>(*tool_settings.sandbox_timeout_s * 1000);
  options.index = index_settings();
  options.require_full_seal = settings.require_full_seal;
  return options;
}

}  // namespace

Result<ToolSettings> tool_settings_of(const Settings& settings) {
  return read_tool_settings(environment_settings(environ), settings.tool_settings);
}

Result<std::unique_ptr<ToolService>> ToolService::create(Engine& engine, const Settings& settings) {
  BJ_TRY(ToolSettings tool_settings, tool_settings_of(settings));
  BJ_TRY(std::unique_ptr<Store> store, open_store(settings));
  return std::unique_ptr<ToolService>(new ToolService(engine, settings, std::move(tool_settings), std::move(store)));
}

ToolService::ToolService(Engine& engine, const Settings& settings, ToolSettings tool_settings,
                         std::unique_ptr<Store> store)
    : tool_settings_(std::move(tool_settings)),
      store_(std::move(store)),
      threads_(kStoreThreads),
      webhook_(client_, tool_settings_),
      configs_(*store_, tool_settings_.sandbox_defaults(process_environment("HOME"))),
      deriver_(engine, settings.template_name, interpreter_for(settings, "")),
      catalog_(*store_, threads_, deriver_),
      recorder_(engine.host().executor, *store_, threads_, settings.keep_calls),
      runner_({*store_, threads_, tool_settings_, configs_, recorder_, webhook_,
               allowed_from_server(environ, settings.pass_proxies ? ProxyVariables::kPass : ProxyVariables::kDrop)}) {
  runner_.add_provider(
      std::make_unique<LocalProvider>(engine, engine.environments(), local_options(settings, tool_settings_)));
}

ToolService::~ToolService() { threads_.join(); }

void ToolService::start() { recorder_.start(); }

Task<void> ToolService::stop() { co_await recorder_.stop(); }

void ToolService::add_routes(Router& router) {
  letta::add_routes(router, {*store_, threads_, catalog_, configs_, runner_});
  native::add_routes(router, {*store_, threads_, runner_, recorder_});
}

}  // namespace bj
