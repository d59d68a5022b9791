// belljar serve: the engine with its warm pools and the tool service behind a server.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <sstream>

#include "api/authenticate.h"
#include "cli/context.h"
#include "cli/environment.h"
#include "cli/first_key.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/network_flag.h"
#include "cli/say.h"
#include "cli/seal_text.h"
#include "cli/server_place.h"
#include "cli/service_options.h"
#include "cli/terminal.h"
#include "cli/with_engine.h"
#include "engine/environments/environment_index.h"
#include "server/builtin_routes.h"
#include "server/http_server.h"
#include "service/call_metrics.h"
#include "service/sandbox_service.h"

namespace bj {
namespace {

constexpr const char* kFooter =
    R"TEXT(Before it listens, it makes one sealed Python call as a self-check and prints its result, its time and the seal. The first
start makes a key, which every request needs (Authorization: Bearer KEY): it is in the file admin.key of the data
directory; `belljar key create` makes more. /docs shows every route. SIGINT or SIGTERM stops it.

Examples:
  belljar serve
  belljar serve --listen 127.0.0.1:9000 --require-seal full
  belljar serve --listen 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem --host-name belljar.example.org
  belljar --database postgresql://belljar@db/belljar serve
  curl -H "Authorization: Bearer $(cat /var/lib/belljar/admin.key)" http://127.0.0.1:8090/v1/tools/)TEXT";

struct ServeFlags {
  std::string listen = "127.0.0.1:8090";
  std::string certificate, key;
  bool allow_plain = false;
  std::vector<std::string> host_names, origins;
  std::string domain;
};

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

// What the flag or the environment says, else the config file.
std::string domain_of(const ServeFlags& flags, const Settings& settings) {
  return flags.domain.empty() ? settings.sandboxes.domain : flags.domain;
}

Result<ServerOptions> server_options(const ServeFlags& flags, const Settings& settings) {
  ServerOptions options;
  options.rates = settings.rates;
  BJ_TRY(options.address, parse_address(flags.listen));
  if (flags.certificate.empty() != flags.key.empty()) {
    return fail(Code::kInvalid, "--tls-cert and --tls-key belong together");
  }
  if (!flags.certificate.empty()) options.tls = TlsFiles{flags.certificate, flags.key};
  if (flags.allow_plain) options.allow_plain = AllowPlain{};
  const std::string domain = domain_of(flags, settings);
  options.site = {flags.host_names, flags.origins, host_name(domain)};
  if (!domain.empty() && options.site.domain.empty())
    return fail(Code::kInvalid, "\"" + domain + "\" is no domain: use a name such as sandboxes.example.org:8443");
  return options;
}

void say_key(const std::optional<FirstKey>& key) {
  if (!key) return say("no key file: `belljar key create` makes a key\n");
  if (!key->works) {
    return say("the key in " + key->file + " opens nothing in this database: `belljar key create` makes a key\n");
  }
  if (key->made.empty()) return say("key: " + key->file + "\n");
  say(fmt::format("a first key was made: {} (shown once; it is in {})\n", key->made.reveal(), key->file));
}

// Everything that must be right before the first request, told as it is found.
Task<Result<HealthFacts>> get_ready(Engine& engine, ToolService& service, Settings settings) {
  HealthFacts facts{.version = BELLJAR_VERSION};
  say(fmt::format("Belljar {}, data in {}\n", facts.version, settings.data_directory));
  BJ_CO_TRY(const std::optional<FirstKey> key, ensure_first_key(service.store(), settings.data_directory));
  say_key(key);
  const Result<CallResult> checked = co_await check(engine, settings);
  if (!checked) {
    co_return fail(Code::kUnavailable,
                   "the self-check failed: " + checked.error().what + " (`belljar doctor` tells more)");
  }
  facts.seal_full = checked->seal.full();
  say(fmt::format("self-check: add(40, 2) = {} in {:.2f} ms, in a sandbox of its own\n", json_text(checked->value),
                  checked->duration_ms));
  say(seal_text(checked->seal));
  BJ_CO_CHECK(co_await service.start());
  co_return facts;
}

// "a, b" -> a and b.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) {
    std::erase(word, ' ');
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

Result<SandboxServiceOptions> sandbox_options(const Settings& settings, const std::string& scheme) {
  SandboxServiceOptions options;
  BJ_TRY(options.provider, sandbox_provider_named(settings.sandboxes.provider));
  options.scheme = scheme;
  options.registries = words_of(settings.registries);
  options.data_directory = settings.data_directory;
  options.limits = settings.limits;
  options.require_full_seal = settings.require_full_seal;
  BJ_TRY(options.network, network_policy_json(settings.network));
  options.package_hosts = package_hosts(index_settings());
  options.credential_files = CredentialFiles(settings.credentials_directory);
  const SandboxSettings& own = settings.sandboxes;
  options.quota = {own.most_live, own.most_cpus, own.most_memory_bytes, own.most_disk_bytes, own.most_stored_bytes};
  options.usual_timeout_s = own.timeout_s;
  options.longest_timeout_s = own.longest_timeout_s;
  options.volume_quota = {own.most_volumes, own.most_volume_bytes};
  options.volume_bytes = own.volume_bytes;
  return options;
}

Task<void> serve_requests(HttpServer& server, ToolService& service, SandboxService& sandboxes, HealthFacts facts) {
  Router router;
  Metrics metrics;
  add_builtin_routes(router, metrics, facts);
  service.add_routes(router);
  sandboxes.add_routes(router);
  count_calls(service.runner(), metrics);
  co_await server.serve({router, metrics, authenticate_by_key(service.store(), service.threads()), sandboxes.traffic(),
                         sandboxes.own_ports()});
  say("stopping\n");
  co_await server.stop();
}

int report(const Error& error) {
  complain(error.what);
  return status_of(error);
}

// Without a farewell: what the launcher was told to keep goes on, all else ends when our sockets close, exactly as if
// we had been killed.
Task<void> leave(ToolService& service) {
  co_await service.stop();
  say("sandboxes go on without a server\n");
  ::_exit(kExitOk);
}

Task<int> serve_until_stopped(Engine& engine, Settings settings, ServerOptions options, std::string domain) {
  const std::string scheme = options.tls ? "https" : "http";
  ServerAddress address = options.address;
  const std::string name = options.site.host_names.empty() ? "" : options.site.host_names.front();
  // The port first: that it is taken should be known before the pools are filled.
  const auto server = HttpServer::listen(engine.host().executor, std::move(options));
  if (!server) co_return report(server.error());
  Result<ServiceOptions> wanted = service_options(settings);
  if (!wanted) co_return report(wanted.error());
  Result<SandboxServiceOptions> living = sandbox_options(settings, scheme);
  if (!living) co_return report(living.error());
  int status = kExitOk;
  const auto service = ToolService::create(engine, std::move(*wanted));
  if (!service) co_return report(service.error());
  Result<SandboxTokens> tokens = SandboxTokens::open(settings.data_directory);
  if (!tokens) co_return report(tokens.error());
  const Result<HealthFacts> facts = co_await get_ready(engine, **service, settings);
  const bool stopped = co_await interrupted();
  if (!facts) co_return stopped ? kExitOk : report(facts.error());
  if (!stopped) {
    address.port = (*server)->port();
    living->domain = domain.empty() ? fmt::format("localhost:{}", address.port) : domain;
    living->secure = scheme == "https";
    SandboxService sandboxes(engine, **service, std::move(*tokens), *living);
    const Result<void> started = co_await sandboxes.start();
    if (started) {
      const Result<ServerPlace> place = ServerPlace::tell(settings.data_directory, server_url(scheme, address, name));
      if (!place) complain(place.error().what);
      say(fmt::format("listening on {}://{}\n", scheme, address.text()));
      co_await serve_requests(**server, **service, sandboxes, *facts);
    }
    if (started && settings.sandboxes.keep_on_stop) co_await leave(**service);
    co_await sandboxes.stop();
    if (!started) status = report(started.error());
  }
  co_await (*service)->stop();
  co_return status;
}

int serve(const ServeFlags& flags, const Settings& settings) {
  const Result<ServerOptions> options = server_options(flags, settings);
  if (!options) return refuse(options.error().what);
  EngineOptions engine_settings = engine_options(settings);
  engine_settings.keeps_sandboxes = true;
  const int status = with_engine(settings, std::move(engine_settings), [&](Engine& engine) {
    return serve_until_stopped(engine, settings, *options, domain_of(flags, settings));
  });
  // Being asked to stop is how a server ends well.
  return status > 128 ? kExitOk : status;
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* const command =
      add_subcommand(app, "serve", "Start the engine and its server, on loopback unless told otherwise");
  command->footer(kFooter);
  command->add_option("--listen", flags->listen, "where to listen [127.0.0.1:8090]")->type_name("ADDRESS:PORT");
  command->add_option("--tls-cert", flags->certificate, "serve HTTPS with this certificate chain (PEM)")
      ->type_name("FILE");
  command->add_option("--tls-key", flags->key, "and this private key (PEM)")->type_name("FILE");
  command->add_flag("--allow-plain", flags->allow_plain,
                    "let keys cross a network in clear: only behind a proxy with TLS");
  command->add_option("--host-name", flags->host_names, "a name that clients use for this server")->type_name("NAME");
  command->add_option("--domain", flags->domain, "below which sandboxes have host names, PORT-ID.DOMAIN [localhost]")
      ->type_name("NAME[:PORT]")
      ->envname("BELLJAR_DOMAIN");
  command->add_option("--origin", flags->origins, "a site whose pages may call this server")->type_name("URL");
  add_sandbox_flags(*command, context);
  add_limit_flags(*command, context);
  command->callback([flags, &context] { context.status = serve(*flags, context.settings); });
}

}  // namespace bj
