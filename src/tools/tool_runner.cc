#include "tools/tool_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <set>

#include "base/id.h"
#include "base/log.h"
#include "base/utf8.h"
#include "store/sql.h"
#include "tools/environment_layers.h"
#include "tools/fingerprint.h"
#include "tools/friendly_error.h"
#include "tools/network_receipts.h"
#include "tools/provider_choice.h"
#include "tools/python_text.h"
#include "tools/return_limit.h"
#include "tools/stored_json.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMostFingerprints = 256;

// A tool's or configuration's stored requirements, as its installer takes them.
Result<std::vector<std::string>> install_arguments(PackageKind kind, const json::value& list) {
  std::vector<std::string> arguments;
  if (list.is_null()) return arguments;
  FieldErrors errors;
  for (const Requirement& requirement : read_requirements(list, {}, errors)) {
    BJ_TRY(std::string argument, install_argument(kind, requirement));
    arguments.push_back(std::move(argument));
  }
  if (!errors.empty())
    return fail(Code::kInvalid, "the stored requirements can't be read: " + field_errors_repr(errors));
  return arguments;
}

// json_schema.parameters.properties; none: the tool has no schema.
std::optional<json::object> properties_of(const ToolRow& tool) {
  const json::object schema = stored_object(tool.json_schema);
  const json::value* const parameters = schema.if_contains("parameters");
  const json::value* const properties =
      parameters != nullptr && parameters->is_object() ? parameters->get_object().if_contains("properties") : nullptr;
  if (properties == nullptr || !properties->is_object()) return std::nullopt;
  return properties->get_object();
}

std::string wanted_provider(const json::object& metadata) {
  const json::value* const wish = metadata.if_contains("sandbox");
  return wish != nullptr && wish->is_string() ? std::string(wish->get_string()) : std::string();
}

// Tools write bytes, APIs take text.
std::vector<std::string> texts_of(const std::string& text) {
  return text.empty() ? std::vector<std::string>() : std::vector<std::string>{valid_utf8(text)};
}

CallError letta_error(const CallResult& result, const std::string& name, double timeout_s) {
  if (result.status != CallStatus::kTimeout) {
    CallError error = result.error;
    error.name = error.name.substr(error.name.rfind('.') + 1);  // npos + 1 is the whole name
    return error;
  }
  return {"TimeoutError", "Executing tool " + name + " timed out after " + python_repr(timeout_s) + " seconds.", ""};
}

// What a tool wrote to stderr, followed by what Python would have: the traceback, or without one the error alone. An
// agent's run tells its error nowhere else.
std::string with_error(std::string text, const CallError& error) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text + (error.traceback.empty() ? error.name + ": " + error.message + "\n" : error.traceback);
}

// Of a name that both have, the webhook's.
CallCredentials credentials_of(CallCredentials credentials, const CallCredentials& stored) {
  const size_t of_webhook = credentials.size();
  for (const CallCredential& one : stored) {
    const auto end = credentials.begin() + static_cast<std::ptrdiff_t>(of_webhook);
    const auto same = [&one](const CallCredential& other) { return other.gate.name == one.gate.name; };
    if (std::find_if(credentials.begin(), end, same) == end) credentials.push_back(one);
  }
  return credentials;
}

json::array names_of(const CallCredentials& credentials) {
  json::array names;
  for (const CallCredential& credential : credentials) names.emplace_back(credential.gate.name);
  return names;
}

// Empty: something can be reached, or nobody asked.
std::string why_nothing(const NetworkPolicy& policy) {
  if (policy.layers.empty() || !policy.allows_nothing()) return "";
  NetworkPolicy outermost;
  outermost.layers = {policy.layers.front()};
  if (outermost.allows_nothing()) {
    return "nothing can be reached: the organization's network policy allows nothing; an administrator sets it with "
           "`belljar network set`";
  }
  return "nothing can be reached: what the organization, the sandbox configuration, the tool and the call allow has "
         "nothing in common";
}

constexpr size_t kMostNames = 64;

// Of every variable that came from somewhere secret or from the caller: its name.
json::array secret_names(const EnvironmentLayers& layers) {
  std::set<std::string> names;
  for (const VariableLayer* const layer : {&layers.sandbox, &layers.credentials, &layers.caller, &layers.agent}) {
    for (const auto& [name, value] : *layer) {
      if (value) names.insert(short_name(name));
    }
  }
  json::array list;
  for (const std::string& name : names) {
    if (list.size() == kMostNames) break;
    list.emplace_back(name);
  }
  if (names.size() > kMostNames) list.emplace_back(fmt::format("and {} more", names.size() - kMostNames));
  return list;
}

}  // namespace

json::value network_json(const RunOutcome& outcome) {
  if (!outcome.network && outcome.network_note.empty()) return nullptr;
  json::object object = network_use_json(outcome.network.value_or(NetworkUse()));
  if (!outcome.network_note.empty()) object["note"] = outcome.network_note;
  return object;
}

struct ToolRunner::Prepared {
  std::vector<std::string> order;  // of providers
  json::object metadata;           // of the tool
  std::optional<AgentForTool> agent;
  std::string configured;   // the provider that `config` and `layers.sandbox` are for
  SandboxConfigRow config;  // of the provider that is asked next
  json::object config_fields;
  EnvironmentLayers layers;
  NetworkPolicy network;
  std::string network_note;                  // why a call that asks for a network has none
  CallCredentials credentials;               // of the store and of files
  CallCredentials credentials_from_webhook;  // before those of the same name
};

// All that a call needs of the store, in one visit: each costs two changes of thread, which is more than what is read.
Result<ToolRunner::Prepared> ToolRunner::load(RunRequest& request) const {
  Prepared prepared;
  if (request.find_tool) {
    BJ_TRY(request.tool, request.find_tool(parts_.store));
  }
  prepared.metadata = stored_object(request.tool.metadata);
  prepared.order =
      provider_order({wanted_provider(prepared.metadata), parts_.settings.sandbox_type() == SandboxType::kE2b,
                      parts_.settings.modal_sandbox_enabled()});
  if (request.agent_id) {
    BJ_TRY(prepared.agent, load_agent(parts_.store, request.actor, *request.agent_id));
    prepared.layers.agent = clear_values(prepared.agent->variables);
    prepared.layers.agent_id = prepared.agent->row.id;
    prepared.layers.project_id = prepared.agent->row.project_id;
  }
  // What fails here is tried again, and told, when its turn comes.
  const auto first = std::find_if(prepared.order.begin(), prepared.order.end(),
                                  [this](const std::string& name) { return find(name) != nullptr; });
  if (first != prepared.order.end()) (void)configure(request, *first, prepared);
  return prepared;
}

Task<Result<ToolRunner::Prepared>> ToolRunner::prepare(RunRequest& request) {
  const auto visit = [this, &request] { return load(request); };
  BJ_CO_TRY(Prepared prepared, co_await offload(parts_.threads, visit));
  if (const std::optional<CredentialsWebhook> webhook = credentials_webhook(parts_.settings)) {
    CredentialsQuery query{request.actor.user, request.actor.organization, request.tool.name,
                           request.agent_id.value_or("")};
    Credentials fetched = co_await fetch_credentials(parts_.client, *webhook, std::move(query));
    if (!fetched.problem.empty()) log_warning("credentials_not_fetched", {{"problem", fetched.problem}});
    prepared.layers.credentials = std::move(fetched.variables);
    prepared.credentials_from_webhook = std::move(fetched.for_gate);
  }
  prepared.layers.caller = {request.variables.begin(), request.variables.end()};
  prepared.layers.tool_id = request.tool.id.empty() ? new_id("tool") : request.tool.id;
  co_return prepared;
}

// The configuration of that provider's type and its environment variables. Blocks.
Result<void> ToolRunner::configure(const RunRequest& request, const std::string& provider, Prepared& prepared) const {
  const SandboxType type = sandbox_type_named(provider).value_or(SandboxType::kLocal);
  BJ_TRY(prepared.config, parts_.configs.find_or_create(request.actor, type));
  BJ_TRY(const std::vector<VariableRow> variables,
         parts_.store.sandbox_variables().list(request.actor.organization, prepared.config.id, {}));
  prepared.layers.sandbox = clear_values(variables);
  prepared.config_fields = stored_object(prepared.config.config);
  BJ_CHECK(load_network(request, prepared));
  prepared.configured = provider;
  return {};
}

// What the call may reach and with which credentials. A call that asks for neither costs the store nothing. Blocks.
Result<void> ToolRunner::load_network(const RunRequest& request, Prepared& prepared) const {
  NetworkLayers layers;
  BJ_TRY(layers.configuration, read_network_wish(prepared.config_fields, "sandbox configuration"));
  BJ_TRY(layers.tool, read_network_wish(prepared.metadata, "tool"));
  layers.call = request.network;
  if (layers.asks_for_network()) {
    BJ_TRY(const auto own, parts_.store.network_policies().find(request.actor.organization));
    layers.organization = own ? stored_json(own->policy) : parts_.network.policy;
  }
  BJ_TRY(prepared.network, join_network(layers, parts_.network.package_hosts));
  prepared.network_note = why_nothing(prepared.network);
  BJ_TRY(prepared.credentials, credentials_.find(request.actor.organization, layers.credentials()));
  return {};
}

Result<ProviderCall> ToolRunner::call_for(const RunRequest& request, const std::string& provider,
                                          const Prepared& prepared) const {
  const ToolRow& tool = request.tool;
  ProviderCall call;
  call.language = tool.source_type == "typescript" ? Language::kTypeScript : Language::kPython;
  call.name = tool.name;
  call.source = tool.source_code.value_or("");
  call.arguments = request.arguments;
  call.letta.properties = properties_of(tool);
  call.letta.args_json_schema = stored_json(tool.args_json_schema);
  if (prepared.agent) {
    call.letta.agent_state = agent_state_json(*prepared.agent);
    call.letta.agent_id = prepared.agent->row.id;
  }
  call.variables = provider == "local" ? local_environment(parts_.from_server, prepared.layers)
                                       : layered_environment(prepared.layers);
  call.network = prepared.network;
  for (const CallCredential& credential : credentials_of(prepared.credentials_from_webhook, prepared.credentials)) {
    // A variable that has a value from elsewhere keeps it.
    if (!credential.variable.empty()) call.variables.emplace(credential.variable, credential.gate.placeholder);
    call.credentials.push_back(credential.gate);
  }
  BJ_CHECK(check_variables(call.variables));
  call.config = prepared.config_fields;
  const bool python = call.language == Language::kPython;
  const PackageKind kind = python ? PackageKind::kPip : PackageKind::kNpm;
  const char* const key = python ? "pip_requirements" : "npm_requirements";
  const json::value* const configured = call.config.if_contains(key);
  BJ_TRY(call.tool_requirements,
         install_arguments(kind, stored_json(python ? tool.pip_requirements : tool.npm_requirements)));
  if (configured != nullptr) {
    BJ_TRY(call.config_requirements, install_arguments(kind, *configured));
  }
  return call;
}

Provider* ToolRunner::find(const std::string& name) const {
  for (const auto& provider : providers_) {
    if (name == provider->name()) return provider.get();
  }
  return nullptr;
}

// Equal configurations have equal fingerprints, and taking one costs as much as all else that is made for a call.
const std::string& ToolRunner::fingerprint_of(const SandboxConfigRow& config) {
  const std::string of = config.type + "|" + config.organization + "|" + config.config;
  const auto known = fingerprints_.find(of);
  if (known != fingerprints_.end()) return known->second;
  if (fingerprints_.size() >= kMostFingerprints) fingerprints_.clear();
  const SandboxType type = sandbox_type_named(config.type).value_or(SandboxType::kLocal);
  return fingerprints_[of] = fingerprint(type, config.organization, stored_object(config.config));
}

// One provider after the other, until one has started the call.
Task<tl::expected<CallResult, ProviderFailure>> ToolRunner::execute(const RunRequest& request, Prepared& prepared,
                                                                    RunOutcome& outcome) {
  ProviderFailure last;
  for (const std::string& name : prepared.order) {
    if (!last.error.what.empty()) log_warning("provider_fallback", {{"to", name}, {"because", last.error.what}});
    outcome.provider = name;
    Provider* const provider = find(name);
    if (provider == nullptr) {
      last = {{Code::kUnavailable, "this server can't run tools on " + name +
                                       ": unset its key, or give the tool "
                                       "{\"sandbox\": \"local\"} as metadata_"},
              false};
      continue;
    }
    if (prepared.configured != name) {
      const auto visit = [&] { return configure(request, name, prepared); };
      const Result<void> configured = co_await offload(parts_.threads, visit);
      if (!configured) co_return tl::unexpected(ProviderFailure{configured.error(), false});
    }
    outcome.fingerprint = fingerprint_of(prepared.config);
    Result<ProviderCall> call = call_for(request, name, prepared);
    if (!call) co_return tl::unexpected(ProviderFailure{call.error(), false});
    tl::expected<CallResult, ProviderFailure> result = co_await provider->run(std::move(*call), request.hooks);
    if (result || result.error().may_have_run) co_return result;
    last = result.error();
  }
  co_return tl::unexpected(last);
}

Task<void> ToolRunner::keep_memory(const RunRequest& request, const Prepared& prepared, const CallResult& result) {
  if (!prepared.agent || result.agent_state.is_null()) co_return;
  const std::map<std::string, std::string> changed = changed_blocks(*prepared.agent, result.agent_state);
  if (changed.empty()) co_return;
  const auto write = [&] { return write_back(parts_.store, request.actor, *prepared.agent, changed); };
  const Result<void> written = co_await offload(parts_.threads, write);
  if (!written) log_warning("memory_not_written", {{"agent", prepared.agent->row.id}, {"error", written.error().what}});
}

void ToolRunner::conclude(const RunRequest& request, CallResult result, RunOutcome& outcome) const {
  outcome.status = result.status;
  outcome.success = result.status == CallStatus::kOk;
  outcome.output = texts_of(result.output);
  outcome.limits_hit = std::move(result.limits_hit);
  outcome.duration_ms = result.duration_ms;
  outcome.seal = std::move(result.seal);
  outcome.network = std::move(result.network);
  if (outcome.success) {
    outcome.error_output = texts_of(result.error_output);
    LimitedReturn limited = limit_return(std::move(result.value), std::move(result.value_text),
                                         static_cast<size_t>(request.tool.return_char_limit));
    outcome.value = std::move(limited.value);
    outcome.value_text = std::move(limited.text);
  } else {
    outcome.error = letta_error(result, request.tool.name, *parts_.settings.sandbox_timeout_s);
    outcome.error_output = texts_of(with_error(std::move(result.error_output), outcome.error));
    outcome.value = friendly_error(request.tool.name, {outcome.error.name, outcome.error.message});
  }
}

void ToolRunner::record(const RunRequest& request, const RunOutcome& outcome, int64_t started_at) {
  CallRow call;
  call.id = outcome.call_id;
  call.organization = request.actor.organization;
  call.user = request.actor.user;
  if (!request.tool.id.empty()) call.tool_id = request.tool.id;
  call.tool_name = short_name(request.tool.name);
  call.agent_id = request.agent_id;
  call.status = status_name(outcome.status);
  call.provider = outcome.provider;
  call.fingerprint = outcome.fingerprint;
  call.limits_hit = json::serialize(json::array(outcome.limits_hit.begin(), outcome.limits_hit.end()));
  call.started_at = started_at;
  call.duration_us = static_cast<int64_t>(outcome.duration_ms * 1000);
  parts_.recorder.add(std::move(call));
}

void ToolRunner::leave_receipt(const RunRequest& request, const Prepared& prepared, const RunOutcome& outcome,
                               NetworkReceipts& network, int64_t started_at) {
  network.finish();
  Event event;
  event.kind = EventKind::kCall;
  event.action = request.tool.id.empty() ? "tool.run_from_source" : "tool.run";
  event.actor = request.actor;
  event.subject = request.tool.id;
  event.outcome = status_name(outcome.status);
  event.call_id = outcome.call_id;
  event.time = started_at;
  event.detail = {{"tool", short_name(request.tool.name)},
                  {"provider", outcome.provider},
                  {"duration_us", static_cast<int64_t>(outcome.duration_ms * 1000)},
                  {"secrets", secret_names(prepared.layers)}};
  if (request.agent_id) event.detail["agent"] = *request.agent_id;
  if (outcome.fingerprint) event.detail["fingerprint"] = *outcome.fingerprint;
  if (outcome.network) event.detail["network"] = network.totals(*outcome.network);
  const CallCredentials credentials = credentials_of(prepared.credentials_from_webhook, prepared.credentials);
  if (!credentials.empty()) event.detail["credentials"] = names_of(credentials);
  if (!outcome.limits_hit.empty())
    event.detail["limits_hit"] = json::array(outcome.limits_hit.begin(), outcome.limits_hit.end());
  parts_.audit.add(event);
}

Task<Result<void>> ToolRunner::rebuild_environment(SandboxConfigRow config) {
  Provider* const provider = find(config.type);
  if (provider == nullptr) co_return fail(Code::kUnavailable, "this server can't run tools on " + config.type);
  ProviderCall call;
  call.config = stored_object(config.config);
  if (const json::value* const list = call.config.if_contains("pip_requirements")) {
    BJ_CO_TRY(call.config_requirements, install_arguments(PackageKind::kPip, *list));
  }
  co_return co_await provider->rebuild(std::move(call));
}

Task<Result<RunOutcome>> ToolRunner::run(RunRequest request) {
  const int64_t started_at = now_us();
  BJ_CO_TRY(Prepared prepared, co_await prepare(request));
  BJ_CO_CHECK(co_await parts_.audit.admit());
  RunOutcome outcome;
  outcome.call_id = new_id("call");
  const auto receipts = std::make_shared<NetworkReceipts>(parts_.audit, request.actor, outcome.call_id,
                                                          std::move(request.hooks.on_network));
  request.hooks.on_network = [receipts](const GateEvent& event) { receipts->note(event); };
  tl::expected<CallResult, ProviderFailure> result = co_await execute(request, prepared, outcome);
  outcome.answered = result.has_value();
  if (result) {
    co_await keep_memory(request, prepared, *result);
    conclude(request, std::move(*result), outcome);
  } else {
    outcome.error = {"SandboxError", result.error().error.what, ""};
    outcome.value = friendly_error(request.tool.name, {"RuntimeError", result.error().error.what});
    outcome.error_output = {result.error().error.what};
  }
  outcome.network_note = prepared.network_note;
  record(request, outcome, started_at);
  leave_receipt(request, prepared, outcome, *receipts, started_at);
  if (listener_) listener_(outcome);
  co_return outcome;
}

}  // namespace bj
