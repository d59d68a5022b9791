// /v1/volumes: made, listed, looked at, removed.
#include "api/native/volumes.h"

#include <boost/json/array.hpp>

#include "api/handler.h"
#include "api/native/telling_quotas.h"
#include "api/route_group.h"
#include "api/time_text.h"
#include "base/compact_id.h"

namespace bj::native {
namespace {

namespace json = boost::json;

constexpr int64_t kUsualLimit = 100;

json::object volume_json(const VolumeRow& row) {
  return {
      {"id", row.id}, {"name", row.name}, {"size_bytes", row.size_bytes}, {"created_at", time_text(row.created_at)}};
}

struct NewVolume {
  std::string name;
  std::optional<int64_t> size_bytes;
};

NewVolume read_new(ModelReader& reader) {
  NewVolume wanted;
  wanted.name = reader.string("name", 1);
  wanted.size_bytes = reader.optional_integer("size_bytes");
  return wanted;
}

Task<Result<HttpResponse>> create(VolumeServices services, HttpRequest& request) {
  BJ_CO_TRY(const NewVolume wanted, read_body(request, UnknownKeys::kForbid, read_new));
  BJ_CO_TRY(const VolumeRow row, co_await services.volumes.create(request.actor, wanted.name, wanted.size_bytes));
  co_return json_response(200, volume_json(row));
}

Task<Result<HttpResponse>> list(VolumeServices services, HttpRequest& request) {
  BJ_CO_TRY(const Page page, page_of(request, kUsualLimit, Order::kDescending));
  BJ_CO_TRY(const std::vector<VolumeRow> rows, co_await services.volumes.list(request.actor.organization, page));
  json::array volumes;
  for (const VolumeRow& row : rows) volumes.push_back(volume_json(row));
  co_return json_response(200, volumes);
}

Task<Result<HttpResponse>> get(VolumeServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, volume_id_of(request));
  BJ_CO_TRY(const VolumeRow row, co_await services.volumes.get(request.actor.organization, id));
  co_return json_response(200, volume_json(row));
}

Task<Result<HttpResponse>> remove(VolumeServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, volume_id_of(request));
  BJ_CO_CHECK(co_await services.volumes.remove(request.actor, id));
  co_return empty_response();
}

}  // namespace

Result<std::string> volume_id_of(const HttpRequest& request) {
  const std::string& id = request.parameter("volume_id");
  if (is_compact_id("vol", id)) return id;
  return fail(Code::kNotFound, "there is no such volume");
}

void add_volume_routes(Router& router, VolumeServices services) {
  RouteGroup<VolumeServices> group(router, "/v1/volumes", "volumes", services);
  const json::value object = json::object{{"type", "object"}};
  const json::value body =
      json::object{{"type", "object"},
                   {"required", {"name"}},
                   {"properties", {{"name", {{"type", "string"}}}, {"size_bytes", {{"type", "integer"}}}}}};
  group.add(Method::kPost, "", telling_quotas<create>, "Create a volume", body, object);
  group.add(Method::kGet, "", list, "List volumes, newest first", nullptr,
            json::object{{"type", "array"}, {"items", object}}, RouteExtras{Access::kByMethod, page_parameters()});
  group.add(Method::kGet, "/{volume_id}", get, "Get a volume", nullptr, object);
  group.add(Method::kDelete, "/{volume_id}", remove, "Remove a volume that no sandbox has", nullptr, nullptr);
  add_volume_file_routes(router, services);
}

}  // namespace bj::native
