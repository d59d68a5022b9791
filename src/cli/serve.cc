// belljar serve: the engine with its warm pools behind a server.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/context.h"
#include "cli/environment.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/say.h"
#include "cli/seal_text.h"
#include "cli/terminal.h"
#include "cli/with_engine.h"
#include "server/builtin_routes.h"
#include "server/http_server.h"

namespace bj {
namespace {

constexpr const char* kFooter =
    R"(Before it listens, it makes one sealed Python call as a self-check and prints its result, its time and the seal.
GET /health answers {"status": "ok", "version": ..., "seal_full": ...}. SIGINT or SIGTERM stops it.

Examples:
  belljar serve
  belljar serve --listen 127.0.0.1:9000 --require-seal full
  curl http://127.0.0.1:8090/health)";

CallSpec self_check(const Settings& settings, const Template& image) {
  CallSpec call;
  call.environment.image = image;
  call.environment.interpreter = interpreter_for(settings, "");
  call.limits = settings.limits;
  call.require_full_seal = settings.require_full_seal;
  call.filename = "self_check.py";
  call.source = "def add(a: int, b: int) -> int:\n    return a + b\n";
  call.arguments = {{"a", 40}, {"b", 2}};
  return call;
}

// The first call starts the interpreter, what follows shows what callers will get.
Task<Result<CallResult>> check(Engine& engine, const Settings& settings) {
  BJ_CO_TRY(const Template image, engine.templates().find(settings.template_name));
  const CallSpec call = self_check(settings, image);
  BJ_CO_CHECK(co_await engine.call(call));
  co_await engine.settle(call);
  BJ_CO_TRY(CallResult result, co_await engine.call(call));
  if (result.status != CallStatus::kOk)
    co_return fail(Code::kUnavailable, result.error.name + ": " + result.error.message);
  if (result.value != 42) co_return fail(Code::kInternal, "add(40, 2) returned " + json_text(result.value));
  co_return result;
}

void say(const std::string& text) { print_untrusted(STDOUT_FILENO, text); }

Task<int> serve_until_stopped(Engine& engine, Settings settings, ServerAddress address) {
  // The port first: that it is taken should be known before the pools are filled.
  ServerOptions options;
  options.address = address;
  const auto server = HttpServer::listen(engine.host().executor, options);
  if (!server) co_return refuse(server.error().what);
  HealthFacts facts{.version = BELLJAR_VERSION};
  say(fmt::format("Belljar {}, data in {}\n", facts.version, settings.data_directory));
  const Result<CallResult> checked = co_await check(engine, settings);
  if (co_await interrupted()) co_return kExitOk;
  if (!checked) {
    complain("the self-check failed: " + checked.error().what + " (`belljar doctor` tells more)");
    co_return kExitSandbox;
  }
  facts.seal_full = checked->seal.full();
  say(fmt::format("self-check: add(40, 2) = {} in {:.2f} ms, in a sandbox of its own\n", json_text(checked->value),
                  checked->duration_ms));
  say(seal_text(checked->seal));
  Router router;
  Metrics metrics;
  add_builtin_routes(router, metrics, facts);
  address.port = (*server)->port();
  say(fmt::format("listening on http://{}\n", address.text()));
  co_await (*server)->serve({router, metrics, nullptr});
  say("stopping\n");
  co_await (*server)->stop();
  co_return kExitOk;
}

int serve(const std::string& listen, const Settings& settings) {
  const Result<ServerAddress> address = parse_address(listen);
  if (!address) return refuse(address.error().what);
  const int status = with_engine(settings, engine_options(settings),
                                 [&](Engine& engine) { return serve_until_stopped(engine, settings, *address); });
  // Being asked to stop is how a server ends well.
  return status > 128 ? kExitOk : status;
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
  auto listen = std::make_shared<std::string>("127.0.0.1:8090");
  CLI::App* const command = app.add_subcommand("serve", "Start the engine with warm pools and a server on loopback");
  command->footer(kFooter);
  command->add_option("--listen", *listen, "where to listen [127.0.0.1:8090]")->type_name("ADDRESS:PORT");
  add_sandbox_flags(*command, context);
  add_limit_flags(*command, context);
  command->callback([listen, &context] { context.status = serve(*listen, context.settings); });
}

}  // namespace bj
