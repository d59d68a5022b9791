// The tool service as a whole, put together from its parts: the same for `belljar serve`, for commands that run a
// stored tool without a server, and for the benchmark. Lives on the engine's thread.
#pragma once

#include <memory>

#include "api/letta/routes.h"
#include "api/native/routes.h"
#include "audit/audit_log.h"
#include "engine/engine.h"
#include "engine/environments/environments.h"
#include "providers/http_client.h"
#include "providers/local.h"
#include "tools/call_recorder.h"
#include "tools/catalog.h"
#include "tools/config_manager.h"
#include "tools/schema_deriver.h"
#include "tools/tool_runner.h"

namespace bj {

struct ServiceOptions {
  StoreOptions store;
  LocalOptions local;
  ToolSettings settings;  // under Letta's names
  Variables from_server;  // what of the server's environment local tools get
  std::string home;       // of the server's user
  NetworkSettings network;
  std::chrono::hours keep_calls{30 * 24};
};

class ToolService {
 public:
  static Result<std::unique_ptr<ToolService>> create(Engine& engine, ServiceOptions options);
  ~ToolService();

  // Applies the settings that mean something at a start, then writes records and receipts until stop().
  Task<Result<void>> start();
  // Writes what is left. The engine must still run.
  Task<void> stop();

  void add_routes(Router& router);

  Store& store() { return *store_; }
  asio::thread_pool& threads() { return threads_; }
  ToolCatalog& catalog() { return catalog_; }
  ToolRunner& runner() { return runner_; }
  AuditLog& audit() { return audit_; }
  HttpClient& http() { return *client_; }

 private:
  ToolService(Engine& engine, ServiceOptions options, std::unique_ptr<Store> store, Notary notary,
              std::unique_ptr<HttpClient> client);

  ToolSettings settings_;
  std::unique_ptr<Store> store_;
  asio::thread_pool threads_;
  std::unique_ptr<HttpClient> client_;
  AuditLog audit_;
  ConfigManager configs_;
  SchemaDeriver deriver_;
  ToolCatalog catalog_;
  CallRecorder recorder_;
  ToolRunner runner_;
  bool started_ = false;
};

}  // namespace bj
