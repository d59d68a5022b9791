// A provider hosts the sandbox of a call: this machine, or a cloud. Callers know only this interface; the choice among
// providers is made in one place, tools/provider_choice.h.
//
// Stays on the server's thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "engine/calls/call.h"
#include "engine/environments/environments.h"

namespace bj {

// A call as every provider can make it. `config` is the sandbox configuration of the provider's own type.
struct ProviderCall {
  Language language = Language::kPython;
  std::string name;  // of the function
  std::string source;
  boost::json::object arguments;
  LettaContext letta;
  std::map<std::string, std::string> variables;
  // pip's for Python, npm's for TypeScript, as their installers take them.
  std::vector<std::string> tool_requirements, config_requirements;
  boost::json::object config;
  // A provider that can't keep the policy, or keep the credentials from the code, must not run a call that has any.
  NetworkPolicy network;
  GateCredentials credentials;
};

struct CallHooks {
  std::function<void(bool is_stderr, std::string_view piece)> on_output;
  Progress on_progress;     // while an environment is built
  GateListener on_network;  // of calls that have a network
};

// Why there is no result. Another provider may be tried only if the tool can't have run.
struct ProviderFailure {
  Error error;
  bool may_have_run = false;
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual const char* name() const = 0;
  // The hooks are called on the same thread, and not any more when this has returned. Nothing of the call runs on then,
  // whatever came of it.
  virtual Task<tl::expected<CallResult, ProviderFailure>> run(ProviderCall call, CallHooks hooks) = 0;
  // Installs the call's packages anew, whatever is there. After a failure what was there is used on.
  virtual Task<Result<void>> rebuild(ProviderCall call) = 0;
};

}  // namespace bj
