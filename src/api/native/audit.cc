// GET /v1/audit: what was done, to an organization's administrators. Its events are links of a chain that other
// organizations' stand in too, so whether nothing was changed is for `belljar audit verify` to say, on the server.
#include <boost/json/array.hpp>
#include <charconv>

#include "api/handler.h"
#include "api/native/audit_json.h"
#include "api/native/routes.h"
#include "api/route_group.h"

namespace bj::native {
namespace {

namespace json = boost::json;

constexpr int64_t kUsualLimit = 100;

Result<std::optional<int64_t>> sequence_of(const MaybeText& text) {
  if (!text) return std::nullopt;
  int64_t number = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (bad != std::errc() || end != text->data() + text->size() || number < 0)
    return fail(Code::kUnprocessable, "after and before are sequence numbers of events");
  return number;
}

Task<Result<HttpResponse>> list(Services services, HttpRequest& request) {
  BJ_CO_TRY(const Page page, page_of(request, kUsualLimit, Order::kDescending));
  AuditFilter filter;
  filter.organization = request.actor.organization;
  filter.kind = query_text(request, "kind");
  filter.action = query_text(request, "action");
  filter.subject = query_text(request, "subject");
  filter.call_id = query_text(request, "call_id");
  filter.limit = page.limit.value_or(kUsualLimit);
  filter.order = page.order;
  // A cursor goes on in the list's order: of a falling list, what comes after it is what is older.
  BJ_CO_TRY(filter.after, sequence_of(page.order == Order::kAscending ? page.after : page.before));
  BJ_CO_TRY(filter.before, sequence_of(page.order == Order::kAscending ? page.before : page.after));
  BJ_CO_CHECK(co_await services.audit.flush());
  const auto find = [&] { return services.store.audit().list(filter); };
  BJ_CO_TRY(const std::vector<AuditRow> rows, co_await offload(services.threads, find));
  json::array events;
  for (const AuditRow& row : rows) events.push_back(audit_json(row));
  co_return json_response(200, events);
}

}  // namespace

void add_audit_routes(Router& router, Services services) {
  RouteGroup<Services> audit(router, "/v1/audit", "audit", services);
  RouteExtras filtered{Access::kAdmin, page_parameters()};
  for (const char* name : {"kind", "action", "subject", "call_id"}) {
    ParameterDoc doc;
    doc.name = name;
    doc.description = "Shows only events that match.";
    filtered.parameters.push_back(doc);
  }
  const json::value object = json::object{{"type", "object"}};
  audit.add(Method::kGet, "", list, "List the audit's events, newest first; cursors are sequence numbers", nullptr,
            json::object{{"type", "array"}, {"items", object}}, filtered);
}

}  // namespace bj::native
