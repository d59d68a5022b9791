#include "tools/network_layers.h"

#include <algorithm>

#include "egress/credential_json.h"
#include "egress/policy_json.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMostCredentials = 32;  // of one wish

Result<std::vector<std::string>> names_of(const json::value& list, const std::string& whose) {
  const auto wrong = [&whose](const std::string& what) {
    return fail(Code::kInvalid, "the credentials of the " + whose + " " + what);
  };
  std::vector<std::string> names;
  if (list.is_null()) return names;
  if (!list.is_array()) return wrong("must be a list of names");
  if (list.get_array().size() > kMostCredentials)
    return wrong("are too many: " + std::to_string(kMostCredentials) + " can be named");
  for (const json::value& item : list.get_array()) {
    if (!item.is_string()) return wrong("must be names");
    BJ_CHECK(check_credential_name(std::string_view(item.get_string())));
    names.emplace_back(item.get_string());
  }
  return names;
}

// One layer's policy.
Result<NetworkPolicy> layer_of(const json::value& policy, const std::string& whose, PolicyAuthor author,
                               const std::vector<std::string>& package_hosts) {
  Result<NetworkPolicy> parsed = parse_network_policy(policy, {whose, author, package_hosts});
  if (parsed) return parsed;
  return fail(Code::kInvalid, "the network policy of the " + whose + " can't be used: " + parsed.error().what);
}

constexpr char kOrganization[] = "organization";
constexpr char kTemplate[] = "template";

}  // namespace

std::vector<std::string> NetworkLayers::credentials() const {
  std::vector<std::string> names;
  for (const NetworkWish* const wish : {&configuration, &tool, &call}) {
    for (const std::string& name : wish->credentials) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

Result<NetworkWish> read_network_wish(const json::object& from, const std::string& whose) {
  NetworkWish wish;
  if (const json::value* const network = from.if_contains("network")) wish.network = *network;
  if (const json::value* const list = from.if_contains("credentials")) {
    BJ_TRY(wish.credentials, names_of(*list, whose));
  }
  return wish;
}

Result<void> check_network_wish(const json::object& from, const std::string& whose) {
  const Result<NetworkWish> wish = read_network_wish(from, whose);
  if (!wish) return fail(Code::kUnprocessable, wish.error().what);
  if (!wish->network) return {};
  const Result<NetworkPolicy> policy = layer_of(*wish->network, whose, PolicyAuthor::kCaller, {});
  if (!policy) return fail(Code::kUnprocessable, policy.error().what);
  return {};
}

Result<void> check_template_policy(const json::value& policy) {
  const Result<NetworkPolicy> parsed = layer_of(policy, kTemplate, PolicyAuthor::kCaller, {});
  if (!parsed) return fail(Code::kUnprocessable, parsed.error().what);
  return {};
}

Result<void> check_organization_policy(const json::value& policy) {
  const Result<NetworkPolicy> parsed = layer_of(policy, kOrganization, PolicyAuthor::kAdministrator, {});
  if (!parsed) return fail(Code::kUnprocessable, parsed.error().what);
  return {};
}

Result<NetworkPolicy> within_templates(NetworkPolicy policy, const std::vector<json::value>& templates,
                                       const std::vector<std::string>& package_hosts) {
  for (const json::value& one : templates) {
    BJ_TRY(NetworkPolicy layer, layer_of(one, kTemplate, PolicyAuthor::kCaller, package_hosts));
    policy = narrow(std::move(policy), std::move(layer));
  }
  return policy;
}

Result<NetworkPolicy> join_network(const NetworkLayers& layers, const std::vector<std::string>& package_hosts) {
  if (!layers.asks_for_network()) return NetworkPolicy();
  BJ_TRY(NetworkPolicy joined,
         layer_of(layers.organization, kOrganization, PolicyAuthor::kAdministrator, package_hosts));
  BJ_TRY(joined, within_templates(std::move(joined), layers.templates, package_hosts));
  const std::pair<const char*, const NetworkWish*> inner[] = {{"sandbox configuration", &layers.configuration},
                                                              {"tool", &layers.tool},
                                                              {"call", &layers.call},
                                                              {"sandbox", &layers.sandbox}};
  for (const auto& [whose, wish] : inner) {
    if (!wish->network) continue;
    BJ_TRY(NetworkPolicy layer, layer_of(*wish->network, whose, PolicyAuthor::kCaller, package_hosts));
    joined = narrow(std::move(joined), std::move(layer));
  }
  return joined;
}

}  // namespace bj
