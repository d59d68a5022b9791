// GET /v1/calls: what ran.
#include <boost/json/array.hpp>

#include "api/handler.h"
#include "api/native/call_json.h"
#include "api/native/routes.h"
#include "api/route_group.h"

namespace bj::native {
namespace {

namespace json = boost::json;

constexpr int64_t kUsualLimit = 100;

Task<Result<HttpResponse>> list(Services services, HttpRequest& request) {
  BJ_CO_TRY(const Page page, page_of(request, kUsualLimit, Order::kDescending));
  CallFilter filter;
  filter.tool = query_text(request, "tool");
  filter.agent = query_text(request, "agent");
  filter.status = query_text(request, "status");
  co_await services.recorder.flush();
  const auto find = [&] { return services.store.calls().list(request.actor.organization, filter, page); };
  BJ_CO_TRY(const std::vector<CallRow> rows, co_await offload(services.threads, find));
  json::array calls;
  for (const CallRow& row : rows) calls.push_back(call_json(row));
  co_return json_response(200, calls);
}

Task<Result<HttpResponse>> get(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, id_of(request, "call_id", "call"));
  co_await services.recorder.flush();
  const auto find = [&] { return services.store.calls().get(request.actor.organization, id); };
  BJ_CO_TRY(const CallRow row, co_await offload(services.threads, find));
  co_return json_response(200, call_json(row));
}

}  // namespace

void add_call_routes(Router& router, Services services) {
  RouteGroup<Services> calls(router, "/v1/calls", "calls", services);
  RouteExtras filtered{Access::kByMethod, page_parameters()};
  for (const char* name : {"tool", "agent", "status"}) {
    ParameterDoc doc;
    doc.name = name;
    doc.description = "Shows only calls that match.";
    filtered.parameters.push_back(doc);
  }
  const json::value object = json::object{{"type", "object"}};
  calls.add(Method::kGet, "", list, "List calls, newest first", nullptr,
            json::object{{"type", "array"}, {"items", object}}, filtered);
  calls.add(Method::kGet, "/{call_id}", get, "Get a call's record", nullptr, object);
}

}  // namespace bj::native
