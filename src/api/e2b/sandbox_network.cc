// PUT /sandboxes/{sandboxID}/network: what it may reach from now on. It replaces; what is left out is cleared.
#include <boost/json/serialize.hpp>

#include "api/e2b/sandbox_bodies.h"
#include "api/e2b/services.h"
#include "api/handler.h"
#include "tools/stored_json.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

struct NetworkBody {
  json::object fields;
  std::optional<bool> internet;
};

NetworkBody read_fields(ModelReader& reader) {
  NetworkBody body;
  body.internet = reader.optional_boolean("allow_internet_access");
  for (const char* name : {"allowOut", "denyOut", "rules", "egressProxy", "dnsServers"}) {
    if (const json::value* const given = reader.take(name, NullCounts::kAsAbsent)) body.fields[name] = *given;
  }
  return body;
}

Task<Result<HttpResponse>> change(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(const SandboxRow row, co_await living_row(services, request));
  NetworkBody body;
  if (!request.body.empty()) {
    BJ_CO_TRY(body, read_body(request, UnknownKeys::kIgnore, read_fields));
  }
  BJ_CO_TRY(NetworkWishes wishes, read_network(&body.fields, body.internet));
  json::object details = stored_object(row.details);
  // Who may use its ports is no part of the change.
  if (const json::value* const before = details.if_contains("network"); before != nullptr && before->is_object()) {
    for (const char* name : {"allowPublicTraffic", "maskRequestHost", "httpsPorts"}) {
      if (const json::value* const kept = before->get_object().if_contains(name)) wishes.asked[name] = *kept;
    }
  }
  details["network"] = std::move(wishes.asked);
  if (body.internet)
    details["internet"] = *body.internet;
  else
    details.erase("internet");
  BJ_CO_CHECK(
      co_await services.manager.set_network(request.actor, row.id, std::move(wishes.policy), json::serialize(details)));
  co_return empty_response();
}

}  // namespace

void add_network_routes(Router& router, const Services& services) {
  add_route(router, services, Method::kPut, "/sandboxes/{sandboxID}/network", change, "What it may reach from now on");
}

}  // namespace bj::e2b
