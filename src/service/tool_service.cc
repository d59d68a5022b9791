#include "service/tool_service.h"

#include "service/start_settings.h"

namespace bj {
namespace {

constexpr size_t kStoreThreads = 4;

Event server_event(const char* action) {
  Event event;
  event.kind = EventKind::kServer;
  event.action = action;
  event.detail = {{"version", BELLJAR_VERSION}};
  return event;
}

}  // namespace

Result<std::unique_ptr<ToolService>> ToolService::create(Engine& engine, ServiceOptions options) {
  const std::string data_directory = options.store.data_directory;
  BJ_CHECK(check_organization_policy(options.network.policy));
  BJ_TRY(std::unique_ptr<Store> store, Store::open(std::move(options.store)));
  BJ_TRY(Notary notary, Notary::open(data_directory));
  BJ_TRY(std::unique_ptr<HttpClient> client, HttpClient::create());
  return std::unique_ptr<ToolService>(
      new ToolService(engine, std::move(options), std::move(store), std::move(notary), std::move(client)));
}

ToolService::ToolService(Engine& engine, ServiceOptions options, std::unique_ptr<Store> store, Notary notary,
                         std::unique_ptr<HttpClient> client)
    : settings_(std::move(options.settings)),
      store_(std::move(store)),
      threads_(kStoreThreads),
      client_(std::move(client)),
      audit_(engine.host().executor, *store_, threads_, std::move(notary)),
      configs_(*store_, settings_.sandbox_defaults(options.home)),
      deriver_(engine, options.local.template_name, options.local.interpreter),
      catalog_(*store_, threads_, deriver_, audit_),
      recorder_(engine.host().executor, *store_, threads_, options.keep_calls),
      runner_({*store_, threads_, settings_, configs_, recorder_, audit_, *client_, std::move(options.from_server),
               std::move(options.network)}) {
  runner_.add_provider(std::make_unique<LocalProvider>(engine, engine.environments(), std::move(options.local)));
}

ToolService::~ToolService() { threads_.join(); }

Task<Result<void>> ToolService::start() {
  BJ_CO_CHECK(co_await apply_start_settings(settings_, configs_, runner_, threads_));
  audit_.add(server_event("server.start"));
  BJ_CO_CHECK(co_await audit_.flush());  // before anything runs in the background: who fails to start isn't stopped
  recorder_.start();
  audit_.start();
  started_ = true;
  co_return Result<void>();
}

Task<void> ToolService::stop() {
  co_await recorder_.stop();
  if (started_) audit_.add(server_event("server.stop"));
  co_await audit_.stop();
}

void ToolService::add_routes(Router& router) {
  letta::add_routes(router, {*store_, threads_, catalog_, configs_, runner_, audit_});
  native::add_routes(router, {*store_, threads_, runner_, recorder_, audit_});
}

}  // namespace bj
