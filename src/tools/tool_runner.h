// One run of a tool, whoever hosts it: with which environment, credentials and memory, by which provider, and what
// becomes of its result. Every protocol's "run" ends here.
//
// Stays on the server's thread; the store is asked on its own threads.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/audit_log.h"
#include "base/actor.h"
#include "base/async.h"
#include "providers/provider.h"
#include "store/store.h"
#include "tools/agent_memory.h"
#include "tools/call_recorder.h"
#include "tools/config_manager.h"
#include "tools/credential_source.h"
#include "tools/credentials_webhook.h"
#include "tools/network_layers.h"
#include "tools/tool_settings.h"

namespace bj {

class NetworkReceipts;

struct RunRequest {
  Actor actor;
  ToolRow tool;  // stored, or made from a source that came with the request: then without an id
  // Instead of `tool`: finds it, on one of the store's threads, in the same visit that reads what else the call needs.
  std::function<Result<ToolRow>(Store& store)> find_tool;
  std::optional<std::string> agent_id;
  boost::json::object arguments;
  std::map<std::string, std::string> variables;  // the caller's own, over the configuration's
  NetworkWish network;                           // what this call asks for, within what others allow
  CallHooks hooks;
};

// Letta's ToolExecutionResult, and what the record and our own API tell beside it.
struct RunOutcome {
  std::string call_id;
  bool success = false;
  boost::json::value value;               // a friendly sentence if it failed
  std::optional<std::string> value_text;  // what Python's str() shows of a success: JSON lacks nan and long integers
  std::vector<std::string> output, error_output;
  std::optional<std::string> fingerprint;
  std::string provider;
  CallStatus status = CallStatus::kError;
  CallError error;
  bool answered = false;  // by a provider; else nothing is known of the tool, which most likely did not run
  std::vector<std::string> limits_hit;
  double duration_ms = 0;
  std::optional<Seal> seal;           // nothing ran here: none
  std::optional<NetworkUse> network;  // of a call that could reach something
  std::string network_note;           // why a call that asked for a network could reach nothing
};

// {"reached": [...], "denied": [...], ..., "note"?}; null: the call had nothing to do with the network.
boost::json::value network_json(const RunOutcome& outcome);

// How calls reach the network, as the server is set up.
struct NetworkSettings {
  boost::json::value policy = "none";      // of organizations that have none of their own
  std::vector<std::string> package_hosts;  // what the preset `packages` means here
  CredentialFiles files;
};

class ToolRunner {
 public:
  struct Parts {
    Store& store;
    asio::thread_pool& threads;
    const ToolSettings& settings;
    ConfigManager& configs;
    CallRecorder& recorder;
    AuditLog& audit;
    HttpClient& client;     // asks the credentials webhook, if there is one
    Variables from_server;  // what of the server's environment local tools get
    NetworkSettings network;
  };
  explicit ToolRunner(Parts parts) : parts_(std::move(parts)), credentials_(parts_.store, parts_.network.files) {}
  // Asked in the order that provider_choice.h decides.
  void add_provider(std::unique_ptr<Provider> provider) { providers_.push_back(std::move(provider)); }
  // Told of every outcome, for metrics.
  void on_finished(std::function<void(const RunOutcome&)> listener) { listener_ = std::move(listener); }

  // Fails only if there is nothing to run: an unknown agent, a store that is away. What a tool does is an outcome.
  Task<Result<RunOutcome>> run(RunRequest request);
  // Of organizations that have none of their own.
  const boost::json::value& network_policy() const { return parts_.network.policy; }
  // Installs the packages of a local configuration anew.
  Task<Result<void>> rebuild_environment(SandboxConfigRow config);

 private:
  struct Prepared;
  Task<Result<Prepared>> prepare(RunRequest& request);
  Result<Prepared> load(RunRequest& request) const;
  Result<void> configure(const RunRequest& request, const std::string& provider, Prepared& prepared) const;
  Result<void> load_network(const RunRequest& request, Prepared& prepared) const;
  Result<ProviderCall> call_for(const RunRequest& request, const std::string& provider, const Prepared& prepared) const;
  Task<tl::expected<CallResult, ProviderFailure>> execute(const RunRequest& request, Prepared& prepared,
                                                          RunOutcome& outcome);
  Task<void> keep_memory(const RunRequest& request, const Prepared& prepared, const CallResult& result);
  void conclude(const RunRequest& request, CallResult result, RunOutcome& outcome) const;
  void record(const RunRequest& request, const RunOutcome& outcome, int64_t started_at);
  void leave_receipt(const RunRequest& request, const Prepared& prepared, const RunOutcome& outcome,
                     NetworkReceipts& network, int64_t started_at);
  Provider* find(const std::string& name) const;
  const std::string& fingerprint_of(const SandboxConfigRow& config);

  Parts parts_;
  CredentialSource credentials_;
  std::map<std::string, std::string> fingerprints_;  // by what they are taken of
  std::vector<std::unique_ptr<Provider>> providers_;
  std::function<void(const RunOutcome&)> listener_;
};

}  // namespace bj
