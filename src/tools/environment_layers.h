// A tool's environment variables: layers from several places, the later over the earlier, then the ids of the call.
//
// Unlike Letta, a local tool does not get the server's own environment, which holds its secrets: only PATH, the locale,
// the time zone, and, when asked for, proxies.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace bj {

using Variables = std::map<std::string, std::string>;
// A null removes what the layers below have.
using VariableLayer = std::map<std::string, std::optional<std::string>>;

struct EnvironmentLayers {
  VariableLayer sandbox;      // stored with the sandbox configuration
  VariableLayer credentials;  // from the webhook
  VariableLayer caller;       // of the request; in an agent's loop the agent's secrets
  VariableLayer agent;        // secrets of the agent's state
  VariableLayer additional;
  std::optional<std::string> agent_id;
  std::optional<std::string> project_id;
  std::string tool_id;
};

// The layers of a remote call, PROJECT_ID and LETTA_* included.
Variables layered_environment(const EnvironmentLayers& layers);

enum class ProxyVariables { kDrop, kPass };
// What of the server's environment a local tool gets. `server`: NAME=value, null-terminated.
Variables allowed_from_server(const char* const* server, ProxyVariables proxies);
// A local call: what is allowed from the server, the layers, and what is always set (no colours, no warnings).
Variables local_environment(Variables from_server, const EnvironmentLayers& layers);

// Refuses what no process can be given (names with '=' or NUL, values with NUL). Names only, never values, are told.
Result<void> check_variables(const Variables& variables);

}  // namespace bj
