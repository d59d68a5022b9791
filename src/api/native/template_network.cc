// /v1/templates/{template}/network: the policy within which sandboxes made of a template stay, whatever they ask for.
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "api/handler.h"
#include "api/native/template_routes.h"
#include "api/route_group.h"
#include "tools/network_layers.h"
#include "tools/stored_json.h"

namespace bj::native {
namespace {

namespace json = boost::json;

// Its own policy, and those of what its newest build began with, which hold as well.
Result<json::object> policies_json(const TemplateView& view) {
  json::array inherited;
  if (view.newest && view.newest->content) {
    BJ_TRY(const TemplateContent content, read_content(*view.newest->content));
    for (const std::string& policy : content.networks) inherited.push_back(stored_json(policy));
  }
  return json::object{
      {"template_id", view.row.id}, {"policy", stored_json(view.row.network)}, {"inherited", std::move(inherited)}};
}

Task<Result<HttpResponse>> get(TemplateServices services, HttpRequest& request) {
  const auto read = [&] { return services.catalog.own(request.actor.organization, request.parameter("template")); };
  BJ_CO_TRY(const TemplateView view, co_await offload(services.threads, read));
  BJ_CO_TRY(const json::object answer, policies_json(view));
  co_return json_response(200, answer);
}

Task<Result<TemplateView>> change(TemplateServices services, HttpRequest& request, MaybeText policy) {
  const auto write = [&] {
    return services.catalog.set_network(request.actor.organization, request.parameter("template"), policy);
  };
  co_return co_await offload(services.threads, write);
}

Task<Result<HttpResponse>> put(TemplateServices services, HttpRequest& request) {
  const auto take = [](ModelReader& reader) {
    const json::value* const policy = reader.required("policy");
    return policy == nullptr ? json::value() : *policy;
  };
  BJ_CO_TRY(const json::value policy, read_body(request, UnknownKeys::kForbid, take));
  BJ_CO_CHECK(check_template_policy(policy));
  BJ_CO_TRY(const TemplateView view, co_await change(services, request, json::serialize(policy)));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "template.network", view.row.id, {{"policy", policy}}));
  BJ_CO_TRY(const json::object answer, policies_json(view));
  co_return json_response(200, answer);
}

Task<Result<HttpResponse>> clear(TemplateServices services, HttpRequest& request) {
  BJ_CO_TRY(const TemplateView view, co_await change(services, request, std::nullopt));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "template.network", view.row.id, {{"policy", nullptr}}));
  co_return empty_response();
}

}  // namespace

void add_template_network_routes(Router& router, TemplateServices services) {
  RouteGroup<TemplateServices> group(router, "/v1/templates/{template}/network", "templates", services);
  const json::value object = json::object{{"type", "object"}};
  const json::value body =
      json::object{{"type", "object"}, {"properties", {{"policy", json::object()}}}, {"required", {"policy"}}};
  group.add(Method::kGet, "", get, "What sandboxes made of it reach at most; null: as much as they may otherwise",
            nullptr, object);
  group.add(Method::kPut, "", put, "Set its network policy, for sandboxes that are made of it from now on", body,
            object);
  group.add(Method::kDelete, "", clear, "Remove its network policy", nullptr, nullptr);
}

}  // namespace bj::native
