#include "service/sandbox_service.h"

#include <unistd.h>

#include <array>

#include "api/authenticate.h"
#include "api/e2b/envd.h"
#include "api/e2b/header_rules.h"
#include "api/e2b/watchers.h"
#include "api/native/sandbox_routes.h"
#include "api/native/volumes.h"
#include "control/sandbox_image.h"
#include "engine/instance_alive.h"
#include "store/sql.h"
#include "tools/credential_source.h"
#include "tools/network_layers.h"
#include "tools/network_receipts.h"
#include "tools/stored_json.h"

namespace bj {
namespace {

namespace json = boost::json;

// Who shares a database must be told apart. A file of this machine's is shared with nobody else, and stays its own when
// the machine, or the container, is called otherwise.
std::string machine_name(Store& store) {
  std::array<char, 256> name{};
  if (store.database().engine() == DatabaseKind::kSqlite) return "localhost";
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
}

// A node is "<machine>/<instance>". Of another machine's nothing is known here.
std::function<bool(const std::string&)> death_of_nodes(Store& store, bool root, const std::string& data_directory) {
  const std::string directory = instances_directory(root, data_directory);
  const bool alone = store.database().engine() == DatabaseKind::kSqlite;
  return [directory, alone, machine = machine_name(store) + "/"](const std::string& node) {
    return (alone || node.starts_with(machine)) && !instance_alive(directory, node.substr(node.find('/') + 1));
  };
}

int64_t now_s() { return now_us() / 1'000'000; }

ManagerOptions manager_options(Engine& engine, Store& store, VolumeManager& volumes,
                               const SandboxServiceOptions& options) {
  ManagerOptions manager;
  manager.node = machine_name(store) + "/" + engine.instance();
  manager.quota = options.quota;
  manager.limits = options.limits;
  manager.usual_timeout_s = options.usual_timeout_s;
  manager.longest_timeout_s = options.longest_timeout_s;
  manager.now = now_us;
  manager.find_volumes = [&volumes](std::string organization, std::vector<VolumeWish>& wishes) {
    return volumes.resolve(std::move(organization), wishes);
  };
  manager.node_is_dead = death_of_nodes(store, engine.host().abilities.root, options.data_directory);
  return manager;
}

std::vector<json::value> policies_of(const TemplateContent& content) {
  std::vector<json::value> policies;
  for (const std::string& text : content.networks) policies.push_back(stored_json(text));
  return policies;
}

// The organization's policy, or the server's, and within it those of what the sandbox is made of, and what it asks for.
// An organization's that can't be read allows nothing.
Result<NetworkPolicy> network_of(Store& store, const SandboxServiceOptions& options, const std::string& organization,
                                 const TemplateContent& content, const std::string& wish) {
  NetworkLayers layers;
  layers.templates = policies_of(content);
  BJ_TRY(layers.sandbox, read_network_wish({{"network", stored_json(wish)}}, "sandbox"));
  if (wish == "null") layers.sandbox.network.reset();
  BJ_TRY(const std::optional<NetworkPolicyRow> own, store.network_policies().find(organization));
  layers.organization = own ? stored_json(own->policy) : options.network;
  return join_network(layers, options.package_hosts);
}

// What E2B's rules for its network put into requests.
Result<GateCredentials> headers_of(Store& store, const SandboxRow& row) {
  const boost::json::object details = stored_object(row.details);
  const boost::json::value* const network = details.if_contains("network");
  if (network == nullptr || !network->is_object()) return GateCredentials();
  BJ_TRY(const std::vector<e2b::HeaderRule> rules, e2b::read_header_rules(network->get_object()));
  SecretTable secrets(store.database(), store.vault());
  BJ_TRY(const auto values, secrets.values(row.organization, e2b::secrets_of(rules)));
  return e2b::gate_credentials(rules, values);
}

Result<SandboxCredentials> credentials_of(Store& store, const CredentialSource& source, const SandboxRow& row) {
  BJ_TRY(const NetworkWish wish, read_network_wish({{"credentials", stored_json(row.credentials)}}, "sandbox"));
  BJ_TRY(CallCredentials found, source.find(row.organization, wish.credentials));
  SandboxCredentials credentials;
  for (CallCredential& one : found) {
    if (!one.variable.empty()) credentials.placeholders[one.variable] = one.gate.placeholder;
    credentials.gate.push_back(std::move(one.gate));
  }
  BJ_TRY(GateCredentials headers, headers_of(store, row));
  std::move(headers.begin(), headers.end(), std::back_inserter(credentials.gate));
  return credentials;
}

GateWitness witness_of(AuditLog& audit, const SandboxRow& row) {
  Actor actor;
  actor.organization = row.organization;
  actor.user = row.user.value_or("");
  actor.key = row.key.value_or("");
  const auto receipts = std::make_shared<NetworkReceipts>(audit, actor, row.id, nullptr, now_us);
  return {[receipts](const GateEvent& event) { receipts->note(event); }, [receipts] { receipts->finish(); }};
}

// A build reaches what its organization may reach, or, where that is nothing, the package indexes; within what the
// template allows that it begins with, whose programs its steps run.
Result<NetworkPolicy> builds_network(Store& store, const SandboxServiceOptions& options,
                                     const std::string& organization, const TemplateContent& content,
                                     NetworkPolicy packages) {
  BJ_TRY(NetworkPolicy own, network_of(store, options, organization, {}, "\"open\""));
  return within_templates(own.allows_nothing() ? std::move(packages) : std::move(own), policies_of(content),
                          options.package_hosts);
}

TemplateServiceOptions template_options(Engine& engine, ToolService& tools, const std::unique_ptr<SandboxHost>& host,
                                        const SandboxServiceOptions& options) {
  TemplateServiceOptions own;
  own.data_directory = options.data_directory;
  own.node = machine_name(tools.store()) + "/" + engine.instance();
  own.scheme = options.scheme;
  own.limits = options.limits;
  own.registries = options.registries;
  own.most_stored_bytes = options.quota.stored_bytes;
  own.network = [&store = tools.store(), options](const std::string& organization, const TemplateContent& content,
                                                  NetworkPolicy packages) {
    return builds_network(store, options, organization, content, std::move(packages));
  };
  own.node_is_dead = death_of_nodes(tools.store(), engine.host().abilities.root, options.data_directory);
  own.remove_layers = [&host](std::vector<std::string> layers) { return host->remove_layers(std::move(layers)); };
  return own;
}

VolumeOptions volume_options(Store& store, const SandboxServiceOptions& options) {
  VolumeOptions volumes;
  volumes.directory = options.data_directory + "/volumes";
  volumes.machine = machine_name(store);
  volumes.quota = options.volume_quota;
  volumes.usual_bytes = options.volume_bytes;
  return volumes;
}

LocalHostOptions host_options(ToolService& tools, TemplateCatalog& templates, const VolumeManager& volumes,
                              const SandboxServiceOptions& options) {
  LocalHostOptions host;
  host.image = [&templates](const std::string& organization, const std::string& reference) -> Result<Template> {
    BJ_TRY(ResolvedTemplate resolved, templates.resolve(organization, reference));
    return std::move(resolved.image);
  };
  host.image_of_content = [&templates](const std::string& name, const TemplateContent& content) -> Result<Template> {
    BJ_TRY(HeldTemplate held, templates.image_of(name, content));
    return std::move(held.image);
  };
  host.limits = options.limits;
  host.require_full_seal = options.require_full_seal;
  host.network = [&store = tools.store(), options](const SandboxRow& row) -> Result<NetworkPolicy> {
    BJ_TRY(const SandboxImage image, image_of(row));
    return network_of(store, options, row.organization, image.content, row.network);
  };
  host.credentials = [&store = tools.store(), source = CredentialSource(tools.store(), options.credential_files)](
                         const SandboxRow& row) { return credentials_of(store, source, row); };
  host.mounts = [&volumes](const SandboxRow& row) { return volumes.mounts_of(row); };
  host.witness = [&audit = tools.audit()](const SandboxRow& row) { return witness_of(audit, row); };
  return host;
}

CommandRunner::ReadReceipts command_receipts(Store& store) {
  return [&store](const std::string& sandbox) {
    AuditFilter filter;
    filter.subject = sandbox;
    filter.action = "sandbox.command";
    filter.limit = 1000;
    return store.audit().list(filter);
  };
}

}  // namespace

SandboxService::SandboxService(Engine& engine, ToolService& tools, SandboxTokens tokens,
                               const SandboxServiceOptions& options)
    : audit_(tools.audit()),
      limits_(options.limits),
      templates_(engine, tools, template_options(engine, tools, host_, options)),
      volumes_(engine, tools.store(), tools.threads(), tools.audit(), volume_options(tools.store(), options)),
      host_(make_sandbox_host(options.provider, engine, host_options(tools, templates_.catalog(), volumes_, options))),
      manager_(engine.host().executor, tools.store(), tools.threads(), tools.audit(), *host_, templates_.catalog(),
               manager_options(engine, tools.store(), volumes_, options)),
      commands_(engine.host().executor, manager_, tools.audit(), now_us, tools.threads(),
                command_receipts(tools.store())),
      code_(tools.audit(), now_us),
      tokens_(std::move(tokens)),
      place_{options.domain, options.secure},
      traffic_(preview::Services{manager_, tokens_, authenticate_by_key(tools.store(), tools.threads()), now_s}),
      metrics_(engine.host().executor, manager_, now_us),
      watches_(std::make_unique<e2b::KeptWatches>()),
      e2b_{manager_, commands_, metrics_, audit_, tokens_, *watches_, options.domain},
      e2b_volumes_{volumes_, audit_, tokens_, options.domain},
      e2b_secrets_{SecretTable(tools.store().database(), tools.store().vault()), manager_, tools.threads(), audit_} {
  traffic_.serve_port(e2b::kEnvdPort, SandboxTraffic::Guard::kOwn,
                      [this](HttpRequest& request, std::shared_ptr<HeldSandbox> sandbox) {
                        return e2b::answer_envd(e2b_, request, std::move(sandbox));
                      });
  traffic_.serve_port(e2b::kCodePort, SandboxTraffic::Guard::kTraffic,
                      [this](HttpRequest& request, std::shared_ptr<HeldSandbox> sandbox) {
                        return e2b::answer_code_port(e2b_, code_, request, std::move(sandbox));
                      });
}

SandboxService::~SandboxService() = default;

Task<Result<void>> SandboxService::start() {
  BJ_CO_CHECK(co_await volumes_.start());
  BJ_CO_CHECK(co_await templates_.start());
  BJ_CO_CHECK(co_await manager_.start());
  for (const auto& [id, sandbox] : manager_.all_held()) commands_.take_up(sandbox);
  metrics_.start();
  co_return Result<void>();
}

Task<void> SandboxService::stop() {
  co_await metrics_.stop();
  co_await templates_.stop();
  co_await manager_.stop();
  co_await volumes_.stop();
}

void SandboxService::add_routes(Router& router) {
  templates_.add_routes(router);
  native::add_volume_routes(router, {volumes_, audit_});
  native::add_sandbox_routes(router, {manager_, commands_, code_, audit_, limits_, templates_.builder()});
  e2b::add_routes(router, e2b_);
  e2b::add_volume_routes(router, e2b_volumes_);
  e2b::add_secret_routes(router, e2b_secrets_);
  preview::add_routes(router, {manager_, tokens_, {}, now_s}, place_);
}

TrafficHandler SandboxService::traffic() {
  return [this](HttpRequest& request, const Traffic& traffic) { return traffic_.answer(request, traffic); };
}

}  // namespace bj
