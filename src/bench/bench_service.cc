#include "bench/bench_service.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "api/authenticate.h"
#include "base/id.h"
#include "server/builtin_routes.h"
#include "service/call_metrics.h"
#include "store/tool_row.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr const char* kBody = R"({"args":{"a":2,"b":3}})";
constexpr const char* kSchema =
    R"({"name":"add","description":"Adds.","parameters":{"type":"object","properties":{"a":{"type":"integer"},)"
    R"("b":{"type":"integer"}},"required":["a","b"]}})";

Actor owner() { return {kDefaultOrganization, kDefaultUser, "", Role::kAdmin}; }

Result<ToolRow> store_tool(Store& store) {
  ToolRow tool;
  tool.name = "add";
  tool.description = "Adds.";
  tool.source_code = "def add(a: int, b: int) -> int:\n    \"\"\"Adds.\"\"\"\n    return a + b\n";
  tool.json_schema = kSchema;
  return store.tools().upsert(owner(), std::move(tool));
}

// Copies under other names, in one transaction: the store makes them durable once, not one by one.
Result<void> store_copies(Store& store, const std::string& tool, int count) {
  const std::string columns = tool_columns();
  const std::string kept = columns.substr(columns.find("tool_type"));
  const std::string copy =
      "INSERT INTO tools (" + columns + ") SELECT $1, organization_id, $2, " + kept + " FROM tools WHERE id = $3";
  return store.database().transact([&](Transaction& transaction) -> Result<void> {
    for (int i = 0; i < count; ++i) {
      BJ_CHECK(transaction.run(copy, {new_id("tool"), fmt::format("add_{}", i), tool}));
    }
    return {};
  });
}

Result<void> store_configuration(Store& store, const SandboxDefaults& defaults) {
  ConfigManager configs(store, defaults);
  BJ_TRY(const SandboxConfigRow config, configs.find_or_create(owner(), SandboxType::kLocal));
  for (const char* key : {"SERVICE_URL", "SERVICE_REGION", "SERVICE_TOKEN", "LOG_LEVEL", "FEATURES"}) {
    BJ_CHECK(store.sandbox_variables().upsert(owner(), config.id, {key, Secret("a value as long as most are"), {}}));
  }
  return {};
}

Result<std::string> store_agent(Store& store, const std::string& tool) {
  NewAgent agent;
  agent.row.name = "bench";
  agent.tool_ids = {tool};
  for (const char* label : {"human", "persona"}) {
    BlockRow block;
    block.label = label;
    block.value = "What an agent remembers of somebody: a few sentences, which grow with every conversation.";
    agent.blocks.push_back(std::move(block));
  }
  agent.variables.push_back({"AGENT_TOKEN", Secret("a secret of this agent"), {}});
  agent.variables.push_back({"AGENT_MAILBOX", Secret("another one"), {}});
  BJ_TRY(const AgentRow row, store.agents().create(owner(), std::move(agent)));
  return row.id;
}

}  // namespace

BenchService::BenchService(Engine& engine, std::string directory, std::unique_ptr<ToolService> service,
                           std::unique_ptr<HttpServer> server)
    : directory_(std::move(directory)),
      service_(std::move(service)),
      server_(std::move(server)),
      executor_(engine.host().executor),
      served_(executor_) {}

Task<Result<std::unique_ptr<BenchService>>> BenchService::start(Engine& engine, BenchServiceOptions options) {
  ServiceOptions wanted;
  wanted.store.data_directory = options.directory;
  wanted.local.interpreter = options.like.environment.interpreter;
  wanted.local.limits = options.like.limits;
  wanted.home = options.directory;
  const ToolSettings settings = wanted.settings;
  BJ_CO_TRY(auto service, ToolService::create(engine, std::move(wanted)));
  ServerOptions on;
  on.address.port = 0;
  BJ_CO_TRY(auto server, HttpServer::listen(engine.host().executor, std::move(on)));
  std::unique_ptr<BenchService> made(
      new BenchService(engine, std::move(options.directory), std::move(service), std::move(server)));
  BJ_CO_CHECK(made->fill(settings, options.tools));
  BJ_CO_CHECK(co_await made->serve());
  co_return made;
}

Result<void> BenchService::fill(const ToolSettings& settings, int tools) {
  Store& store = service_->store();
  BJ_TRY(const ApiKeyTable::Made key, store.api_keys().create(owner(), "bench", Role::kMember));
  BJ_CHECK(store_configuration(store, settings.sandbox_defaults(directory_)));
  BJ_TRY(const ToolRow tool, store_tool(store));
  BJ_CHECK(store_copies(store, tool.id, tools - 1));
  BJ_TRY(const std::string agent, store_agent(store, tool.id));
  call_.port = server_->port();
  call_.expected = "\"func_return\":5,";
  call_.request = fmt::format(
      "POST /v1/agents/{}/tools/add/run HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      agent, call_.port, key.key.reveal(), std::string_view(kBody).size(), kBody);
  return {};
}

Task<Result<void>> BenchService::serve() {
  add_builtin_routes(router_, metrics_, HealthFacts{});
  count_calls(service_->runner(), metrics_);
  service_->add_routes(router_);
  BJ_CO_CHECK(co_await service_->start());
  spawn(executor_, [this]() -> Task<void> {
    co_await server_->serve({router_, metrics_, authenticate_by_key(service_->store(), service_->threads())});
    served_.set(true);
  });
  co_return Result<void>();
}

Task<void> BenchService::stop() {
  co_await server_->stop();
  (void)co_await served_.get();
  co_await service_->stop();
  service_.reset();
  (void)remove_tree(AT_FDCWD, directory_);
}

}  // namespace bj
