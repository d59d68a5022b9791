// PUT /v1/sandboxes/{sandbox_id}/network: what a running sandbox may reach from now on, within what its organization
// and its template allow.
#include <boost/json/serialize.hpp>

#include "api/handler.h"
#include "api/native/sandbox_json.h"
#include "api/native/sandbox_routes.h"
#include "api/route_group.h"
#include "tools/network_layers.h"

namespace bj::native {
namespace {

namespace json = boost::json;

Task<Result<HttpResponse>> put(SandboxServices services, HttpRequest& request) {
  const auto take = [](ModelReader& reader) {
    const json::value* const policy = reader.required("network");
    return policy == nullptr ? json::value() : *policy;
  };
  BJ_CO_TRY(const std::string id, sandbox_id_of(request));
  BJ_CO_TRY(const json::value policy, read_body(request, UnknownKeys::kForbid, take));
  BJ_CO_CHECK(check_network_wish({{"network", policy}}, "sandbox"));
  BJ_CO_TRY(const auto sandbox, co_await services.manager.running(request.actor.organization, id));
  BJ_CO_TRY(const SandboxRow row,
            co_await services.manager.set_network(request.actor, id, json::serialize(policy), sandbox->row.details));
  co_return json_response(200, sandbox_json(row));
}

}  // namespace

void add_network_route(Router& router, SandboxServices services) {
  RouteGroup<SandboxServices> group(router, "/v1/sandboxes", "sandboxes", services);
  const json::value body =
      json::object{{"type", "object"}, {"properties", {{"network", json::object()}}}, {"required", {"network"}}};
  group.add(Method::kPut, "/{sandbox_id}/network", put, "Change what a running sandbox may reach", body,
            json::object{{"type", "object"}});
}

}  // namespace bj::native
