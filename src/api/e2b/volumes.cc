// /volumes: made, listed, looked at, removed.
#include <boost/json/array.hpp>

#include "api/e2b/volume_routes.h"
#include "api/handler.h"
#include "base/compact_id.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

json::object volume_json(const VolumeRow& row) { return {{"volumeID", row.id}, {"name", row.name}}; }

// A key that may only read gets a token that does no more.
json::object with_token(const VolumeRoutes& routes, const Actor& actor, const VolumeRow& row) {
  json::object answer = volume_json(row);
  const TokenRights rights = actor.role == Role::kReadOnly ? TokenRights::kRead : TokenRights::kWrite;
  answer["token"] = routes.tokens.volume(row.organization, row.id, rights);
  answer["domain"] = routes.domain;
  return answer;
}

Result<std::string> id_of(const HttpRequest& request) {
  const std::string& id = request.parameter("volumeID");
  if (is_compact_id("vol", id)) return id;
  return fail(Code::kNotFound, "there is no such volume");
}

Task<Result<HttpResponse>> create(const VolumeRoutes& routes, HttpRequest& request) {
  const auto read_name = [](ModelReader& reader) { return reader.string("name", 1); };
  BJ_CO_TRY(const std::string name, read_body(request, UnknownKeys::kIgnore, read_name));
  BJ_CO_TRY(const VolumeRow row, co_await routes.volumes.create(request.actor, name, std::nullopt));
  co_return json_response(201, with_token(routes, request.actor, row));
}

Task<Result<HttpResponse>> list(const VolumeRoutes& routes, HttpRequest& request) {
  Page page;
  page.order = Order::kDescending;
  BJ_CO_TRY(const std::vector<VolumeRow> rows, co_await routes.volumes.list(request.actor.organization, page));
  json::array volumes;
  for (const VolumeRow& row : rows) volumes.push_back(volume_json(row));
  co_return json_response(200, volumes);
}

Task<Result<HttpResponse>> get(const VolumeRoutes& routes, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, id_of(request));
  BJ_CO_TRY(const VolumeRow row, co_await routes.volumes.get(request.actor.organization, id));
  co_return json_response(200, with_token(routes, request.actor, row));
}

Task<Result<HttpResponse>> remove(const VolumeRoutes& routes, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, id_of(request));
  BJ_CO_CHECK(co_await routes.volumes.remove(request.actor, id));
  co_return empty_response();
}

using VolumeHandler = Task<Result<HttpResponse>> (*)(const VolumeRoutes&, HttpRequest&);

}  // namespace

void add_volume_routes(Router& router, const VolumeRoutes& routes) {
  const auto add = [&](Method method, const char* path, VolumeHandler handler, const char* summary) {
    RouteOptions options;
    options.errors = ErrorForm::kCodeAndMessage;
    options.doc.tag = "e2b";
    options.doc.summary = summary;
    router.add(method, path, answering([&routes, handler](HttpRequest& request) { return handler(routes, request); }),
               std::move(options));
  };
  add(Method::kPost, "/volumes", create, "Create a volume");
  add(Method::kGet, "/volumes", list, "List volumes");
  add(Method::kGet, "/volumes/{volumeID}", get, "Get a volume and the token for its files");
  add(Method::kDelete, "/volumes/{volumeID}", remove, "Remove a volume that no sandbox has");
  add_volume_content_routes(router, routes);
}

}  // namespace bj::e2b
