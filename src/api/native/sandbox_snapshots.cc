// Snapshots of sandboxes, forks and the way back: /v1/sandboxes/{id}/snapshots, /fork, /rollback and /v1/snapshots.
#include <boost/json/array.hpp>

#include "api/handler.h"
#include "api/idempotency_key.h"
#include "api/native/sandbox_json.h"
#include "api/native/sandbox_routes.h"
#include "api/native/telling_quotas.h"
#include "api/route_group.h"

namespace bj::native {
namespace {

namespace json = boost::json;

constexpr int64_t kUsualLimit = 100;

Task<Result<HttpResponse>> take(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, sandbox_id_of(request));
  SnapshotWish wanted;
  if (!request.body.empty()) {
    const auto read = [](ModelReader& reader) { return reader.optional_string("name").value_or(""); };
    BJ_CO_TRY(wanted.name, read_body(request, UnknownKeys::kForbid, read));
  }
  BJ_CO_TRY(wanted.idempotency_key, idempotency_key_of(request));
  BJ_CO_TRY(const SnapshotView made, co_await services.manager.snapshot(request.actor, id, std::move(wanted)));
  co_return json_response(200, snapshot_json(made));
}

Task<Result<HttpResponse>> answer_list(SandboxServices services, HttpRequest& request, MaybeText sandbox) {
  BJ_CO_TRY(const Page page, page_of(request, kUsualLimit, Order::kDescending));
  BJ_CO_TRY(const std::vector<SnapshotView> rows,
            co_await services.manager.list_snapshots(request.actor.organization, std::move(sandbox), page));
  json::array snapshots;
  for (const SnapshotView& one : rows) snapshots.push_back(snapshot_json(one));
  co_return json_response(200, snapshots);
}

Task<Result<HttpResponse>> list_of_sandbox(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, sandbox_id_of(request));
  BJ_CO_CHECK(co_await services.manager.get(request.actor.organization, id));  // there must be one
  co_return co_await answer_list(services, request, id);
}

Task<Result<HttpResponse>> list(SandboxServices services, HttpRequest& request) {
  co_return co_await answer_list(services, request, query_text(request, "sandbox"));
}

Task<Result<HttpResponse>> get(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const SnapshotView made,
            co_await services.manager.get_snapshot(request.actor.organization, request.parameter("snapshot_id")));
  co_return json_response(200, snapshot_json(made));
}

Task<Result<HttpResponse>> remove(SandboxServices services, HttpRequest& request) {
  BJ_CO_CHECK(co_await services.manager.remove_snapshot(request.actor, request.parameter("snapshot_id")));
  co_return empty_response();
}

NewForks read_forks(ModelReader& reader) {
  NewForks wanted;
  wanted.count = reader.optional_integer("count").value_or(1);
  wanted.timeout_s = reader.optional_integer("timeout");
  return wanted;
}

// Those that could not be made are told beside those that were.
Task<Result<HttpResponse>> fork(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, sandbox_id_of(request));
  NewForks wanted;
  if (!request.body.empty()) {
    BJ_CO_TRY(wanted, read_body(request, UnknownKeys::kForbid, read_forks));
  }
  BJ_CO_TRY(wanted.idempotency_key, idempotency_key_of(request));
  BJ_CO_TRY(const std::vector<Forked> forks, co_await services.manager.fork(request.actor, id, std::move(wanted)));
  json::array answer;
  for (const Forked& one : forks) {
    if (!one.error.empty()) {
      answer.push_back(json::object{{"error", one.error}});
      continue;
    }
    const Result<SandboxRow> row = co_await services.manager.get(request.actor.organization, one.id);
    answer.push_back(row ? sandbox_json(*row) : json::object{{"id", one.id}, {"error", row.error().what}});
  }
  co_return json_response(200, answer);
}

Task<Result<HttpResponse>> rollback(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, sandbox_id_of(request));
  const auto read = [](ModelReader& reader) { return reader.string("snapshot", 1); };
  BJ_CO_TRY(const std::string snapshot, read_body(request, UnknownKeys::kForbid, read));
  BJ_CO_TRY(MaybeText key, idempotency_key_of(request));
  BJ_CO_TRY(const SandboxRow row, co_await services.manager.rollback(request.actor, id, snapshot, std::move(key)));
  co_return json_response(200, sandbox_json(row));
}

}  // namespace

void add_snapshot_routes(Router& router, SandboxServices services) {
  const json::value object = json::object{{"type", "object"}};
  const json::value text = json::object{{"type", "string"}};
  const json::value whole = json::object{{"type", "integer"}};
  const json::value many = json::object{{"type", "array"}, {"items", object}};
  const RouteExtras pages{Access::kByMethod, page_parameters()};
  RouteGroup<SandboxServices> sandboxes(router, "/v1/sandboxes", "sandboxes", services);
  sandboxes.add(Method::kPost, "/{sandbox_id}/snapshots", telling_quotas<take>,
                "Keep its files as they are now, to make others from; processes stand still meanwhile",
                json::object{{"type", "object"}, {"properties", {{"name", text}}}}, object);
  sandboxes.add(Method::kGet, "/{sandbox_id}/snapshots", list_of_sandbox, "List its snapshots, newest first", nullptr,
                many, pages);
  sandboxes.add(Method::kPost, "/{sandbox_id}/fork", telling_quotas<fork>,
                "Make others with the same files, variables, limits and network; its processes are not copied",
                json::object{{"type", "object"}, {"properties", {{"count", whole}, {"timeout", whole}}}}, many);
  sandboxes.add(Method::kPost, "/{sandbox_id}/rollback", telling_quotas<rollback>,
                "Its files become the snapshot's, its processes end, it keeps its id",
                json::object{{"type", "object"}, {"required", {"snapshot"}}, {"properties", {{"snapshot", text}}}},
                object);
  RouteGroup<SandboxServices> snapshots(router, "/v1/snapshots", "snapshots", services);
  snapshots.add(Method::kGet, "", list, "List snapshots, newest first", nullptr, many, pages);
  snapshots.add(Method::kGet, "/{snapshot_id}", get, "Get a snapshot, by id or name", nullptr, object);
  snapshots.add(Method::kDelete, "/{snapshot_id}", remove,
                "Forget a snapshot; sandboxes that were made from it keep their files", nullptr, nullptr);
}

}  // namespace bj::native
