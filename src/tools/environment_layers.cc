#include "tools/environment_layers.h"

#include <algorithm>
#include <string_view>

#include "tools/python_text.h"

namespace bj {
namespace {

constexpr std::string_view kAllowed[] = {"PATH", "LANG", "LANGUAGE", "TZ"};
constexpr std::string_view kProxies[] = {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
                                         "http_proxy", "https_proxy", "no_proxy", "all_proxy"};

bool contains(const auto& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool allowed(std::string_view name, ProxyVariables proxies) {
  if (contains(kAllowed, name) || name.starts_with("LC_")) return true;
  return proxies == ProxyVariables::kPass && contains(kProxies, name);
}

void put_over(VariableLayer& below, const VariableLayer& layer) {
  for (const auto& [name, value] : layer) below.insert_or_assign(name, value);
}

}  // namespace

Variables layered_environment(const EnvironmentLayers& layers) {
  VariableLayer all = layers.sandbox;
  all.erase("");  // stored like any key, but no process could ask for it; in other layers it is the caller's mistake
  put_over(all, layers.credentials);
  if (layers.project_id) all.insert_or_assign("PROJECT_ID", layers.project_id);
  put_over(all, layers.caller);
  put_over(all, layers.agent);
  put_over(all, layers.additional);
  if (layers.agent_id) all.insert_or_assign("LETTA_AGENT_ID", layers.agent_id);
  if (layers.project_id) all.insert_or_assign("LETTA_PROJECT_ID", layers.project_id);
  all.insert_or_assign("LETTA_TOOL_ID", layers.tool_id);
  Variables variables;
  for (auto& [name, value] : all) {
    if (value) variables.emplace(name, std::move(*value));
  }
  return variables;
}

Variables allowed_from_server(const char* const* server, ProxyVariables proxies) {
  Variables variables;
  for (; server != nullptr && *server != nullptr; ++server) {
    const std::string_view entry = *server;
    const size_t equals = entry.find('=');
    if (equals == entry.npos || !allowed(entry.substr(0, equals), proxies)) continue;
    variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

Variables local_environment(Variables from_server, const EnvironmentLayers& layers) {
  Variables variables = std::move(from_server);
  for (auto& [name, value] : layered_environment(layers)) variables.insert_or_assign(name, value);
  variables.insert_or_assign("PYTHONWARNINGS", "ignore");
  variables.insert_or_assign("NO_COLOR", "1");
  variables.insert_or_assign("TERM", "dumb");
  variables.insert_or_assign("PYTHONUNBUFFERED", "1");
  return variables;
}

Result<void> check_variables(const Variables& variables) {
  for (const auto& [name, value] : variables) {
    if (name.empty() || name.find('=') != name.npos || name.find('\0') != name.npos) {
      return fail(Code::kInvalid, "the environment variable " + python_repr(std::string_view(name)) +
                                      " has a name that no process can have");
    }
    if (value.find('\0') != value.npos) {
      return fail(Code::kInvalid, "the value of the environment variable " + name + " has a NUL character");
    }
  }
  return {};
}

}  // namespace bj
