// /v1/network-policy: what the calls of an organization may reach at most. Written by administrators.
#include <boost/json/serialize.hpp>

#include "api/handler.h"
#include "api/native/routes.h"
#include "api/route_group.h"
#include "api/time_text.h"
#include "tools/network_layers.h"
#include "tools/stored_json.h"

namespace bj::native {
namespace {

namespace json = boost::json;

json::object policy_json(const NetworkPolicyRow& row) {
  return {{"policy", stored_json(row.policy)}, {"source", "organization"}, {"updated_at", time_text(row.updated_at)}};
}

Task<Result<HttpResponse>> get(Services services, HttpRequest& request) {
  const auto find = [&] { return services.store.network_policies().find(request.actor.organization); };
  BJ_CO_TRY(const std::optional<NetworkPolicyRow> row, co_await offload(services.threads, find));
  if (row) co_return json_response(200, policy_json(*row));
  co_return json_response(
      200, {{"policy", services.runner.network_policy()}, {"source", "server"}, {"updated_at", nullptr}});
}

Task<Result<HttpResponse>> put(Services services, HttpRequest& request) {
  const auto take = [](ModelReader& reader) {
    const json::value* const policy = reader.required("policy");
    return policy == nullptr ? json::value() : *policy;
  };
  BJ_CO_TRY(const json::value policy, read_body(request, UnknownKeys::kForbid, take));
  BJ_CO_CHECK(check_organization_policy(policy));
  const auto store = [&] { return services.store.network_policies().put(request.actor, json::serialize(policy)); };
  BJ_CO_TRY(const NetworkPolicyRow row, co_await offload(services.threads, store));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "network_policy.put", row.organization, {{"policy", policy}}));
  co_return json_response(200, policy_json(row));
}

Task<Result<HttpResponse>> clear(Services services, HttpRequest& request) {
  const std::string& organization = request.actor.organization;
  const auto remove = [&] { return services.store.network_policies().remove(organization); };
  BJ_CO_CHECK(co_await offload(services.threads, remove));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "network_policy.remove", organization));
  co_return empty_response();
}

}  // namespace

void add_network_policy_routes(Router& router, Services services) {
  RouteGroup<Services> group(router, "/v1/network-policy", "network", services);
  const json::value object = json::object{{"type", "object"}};
  const json::value body =
      json::object{{"type", "object"}, {"properties", {{"policy", object}}}, {"required", {"policy"}}};
  group.add(Method::kGet, "", get, "What calls may reach at most: the organization's policy, or the server's", nullptr,
            object);
  group.add(Method::kPut, "", put, "Set the organization's network policy", body, object, {.access = Access::kAdmin});
  group.add(Method::kDelete, "", clear, "Remove it: the server's holds again", nullptr, nullptr,
            {.access = Access::kAdmin});
}

}  // namespace bj::native
