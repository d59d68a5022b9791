// Letta's REST API: what its clients expect is in docs/letta.md, with every difference and its reason.
#pragma once

#include "audit/audit_log.h"
#include "base/async.h"
#include "server/router.h"
#include "store/store.h"
#include "tools/catalog.h"
#include "tools/config_manager.h"
#include "tools/tool_runner.h"

namespace bj::letta {

// What the handlers work on. All of it must outlive the router.
struct Services {
  Store& store;
  asio::thread_pool& threads;
  ToolCatalog& catalog;
  ConfigManager& configs;
  ToolRunner& runner;
  AuditLog& audit;
};

// Under /v1 and, as in Letta, under /latest.
void add_routes(Router& router, Services services);

void add_tool_routes(Router& router, const std::string& prefix, Services services);
void add_run_routes(Router& router, const std::string& prefix, Services services);
void add_sandbox_config_routes(Router& router, const std::string& prefix, Services services);
void add_agent_routes(Router& router, const std::string& prefix, Services services);
void add_block_routes(Router& router, const std::string& prefix, Services services);

// {"type": "object", "properties": {...}, "required": [...]} for the documentation.
boost::json::object body_schema(std::initializer_list<std::pair<const char*, boost::json::value>> properties,
                                std::initializer_list<const char*> required = {});
boost::json::value ref(const char* schema);       // a schema of the document
boost::json::value array_of(const char* schema);  // a list of them

}  // namespace bj::letta
