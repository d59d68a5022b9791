#include "tools/credentials_webhook.h"

#include "tools/python_loads.h"
#include "tools/python_text.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds kTimeout{10};
constexpr size_t kMaxAnswer = 1024 * 1024;
constexpr size_t kMaxVariables = 1000;

bool set(const TextSetting& setting) { return setting.value && !setting.value->empty(); }

std::string body_of(const CredentialsQuery& query) {
  json::object body{{"user_id", query.user_id}, {"organization_id", query.organization_id}};
  if (!query.tool_name.empty()) body["tool_name"] = query.tool_name;
  if (!query.agent_id.empty()) body["agent_id"] = query.agent_id;
  return python_json(body);
}

// An environment holds text: numbers and truth values become theirs. An object is a credential for the gate; what can't
// be used is left out.
Credentials read_answer(const ClientResponse& response) {
  Credentials credentials;
  const auto value = python_loads(response.body);
  const json::object* object = value ? value->if_object() : nullptr;
  if (object == nullptr || object->size() > kMaxVariables) {
    credentials.problem = "the credentials webhook did not answer with a JSON object of variables";
    return credentials;
  }
  for (const auto& [name, item] : *object) {
    if (item.is_object()) {
      Result<CallCredential> credential = read_credential(name, item.get_object());
      if (credential) {
        credentials.for_gate.push_back(std::move(*credential));
      } else {
        credentials.problem = "the credentials webhook's " + python_repr(std::string_view(name)) +
                              " can't be used: " + credential.error().what;
      }
    } else if (item.is_array()) {
      credentials.problem =
          "the credentials webhook's value of " + python_repr(std::string_view(name)) + " is not text";
    } else {
      credentials.variables[std::string(name)] = item.is_null() ? std::nullopt : std::optional(python_str(item));
    }
  }
  return credentials;
}

}  // namespace

std::optional<CredentialsWebhook> credentials_webhook(const ToolSettings& settings) {
  if (set(settings.orchestrator_endpoint)) {
    return CredentialsWebhook{*settings.orchestrator_endpoint.value + "/webhook/sandbox-credentials",
                              settings.orchestrator_key.value.value_or("")};
  }
  if (set(settings.credentials_webhook)) {
    return CredentialsWebhook{*settings.credentials_webhook.value, settings.credentials_key.value.value_or("")};
  }
  return std::nullopt;
}

Task<Credentials> fetch_credentials(HttpClient& client, CredentialsWebhook webhook, CredentialsQuery query) {
  ClientRequest request;
  request.method = "POST";
  request.url = std::move(webhook.url);
  request.headers = {{"Content-Type", "application/json"}};
  if (!webhook.key.empty()) request.headers.emplace_back("Authorization", "Bearer " + webhook.key);
  request.body = body_of(query);
  request.timeout = kTimeout;
  request.max_response_bytes = kMaxAnswer;
  const Result<ClientResponse> response = co_await client.send(std::move(request));
  Credentials none;
  if (!response) {
    none.problem = "the credentials webhook could not be asked: " + response.error().what;
    co_return none;
  }
  if (response->status < 200 || response->status > 299) {
    none.problem = "the credentials webhook answered with status " + std::to_string(response->status);
    co_return none;
  }
  co_return read_answer(*response);
}

}  // namespace bj
