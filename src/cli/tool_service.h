// The tool service as a whole, put together from its parts: the same for `belljar serve` and for commands that run a
// stored tool without a server. Lives on the engine's thread.
#pragma once

#include <memory>

#include "api/letta/routes.h"
#include "api/native/routes.h"
#include "cli/settings.h"
#include "engine/engine.h"
#include "engine/environments.h"
#include "providers/http_client.h"
#include "providers/local.h"
#include "tools/call_recorder.h"
#include "tools/catalog.h"
#include "tools/config_manager.h"
#include "tools/schema_deriver.h"
#include "tools/tool_runner.h"

namespace bj {

class ToolService {
 public:
  static Result<std::unique_ptr<ToolService>> create(Engine& engine, const Settings& settings);
  ~ToolService();

  // Writes records of calls until stop().
  void start();
  // Writes what is left. The engine must still run.
  Task<void> stop();

  void add_routes(Router& router);

  Store& store() { return *store_; }
  asio::thread_pool& threads() { return threads_; }
  ToolCatalog& catalog() { return catalog_; }
  ToolRunner& runner() { return runner_; }

 private:
  ToolService(Engine& engine, const Settings& settings, ToolSettings tool_settings, std::unique_ptr<Store> store);

  ToolSettings tool_settings_;
  std::unique_ptr<Store> store_;
  asio::thread_pool threads_;
  HttpClient client_;
  CredentialsWebhook webhook_;
  ConfigManager configs_;
  SchemaDeriver deriver_;
  ToolCatalog catalog_;
  CallRecorder recorder_;
  ToolRunner runner_;
};

// The settings under Letta's names, from the environment and the config file.
Result<ToolSettings> tool_settings_of(const Settings& settings);

}  // namespace bj
