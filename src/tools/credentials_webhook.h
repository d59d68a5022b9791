// Credentials for a call from a webhook of the operator's: as environment variables, or for the gate, so that the code
// never has them. It is asked before each call and may fail: then the call goes on without, and the reason is for the
// log. Values are never part of a reason.
//
//   {"REGION": "eu", "GITHUB_TOKEN": {"value": "...", "hosts": ["api.github.com"], "header": "Authorization",
//                                     "format": "Bearer {}", "variable": "GITHUB_TOKEN"}}
#pragma once

#include <optional>
#include <string>

#include "base/async.h"
#include "providers/http_client.h"
#include "tools/call_credential.h"
#include "tools/environment_layers.h"
#include "tools/tool_settings.h"

namespace bj {

struct CredentialsWebhook {
  std::string url;
  std::string key;  // bearer token; empty: none is sent
};

// From STEP_ORCHESTRATOR_ENDPOINT (a path is added) or, if that is not set, SANDBOX_CREDENTIALS_WEBHOOK (as it is).
std::optional<CredentialsWebhook> credentials_webhook(const ToolSettings& settings);

struct CredentialsQuery {
  std::string user_id;
  std::string organization_id;
  std::string tool_name;  // this and the next are sent when not empty
  std::string agent_id;
};

struct Credentials {
  VariableLayer variables;
  CallCredentials for_gate;
  std::string problem;  // empty: all went well
};

Task<Credentials> fetch_credentials(HttpClient& client, CredentialsWebhook webhook, CredentialsQuery query);

}  // namespace bj
