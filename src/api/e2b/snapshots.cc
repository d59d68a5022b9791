// Snapshots and forks of sandboxes: /sandboxes/{id}/snapshots, /snapshots, /sandboxes/{id}/fork. A snapshot is a
// template: it is started from and deleted as one.
#include <algorithm>
#include <boost/json/array.hpp>

#include "api/e2b/page_token.h"
#include "api/e2b/sandbox_json.h"
#include "api/e2b/services.h"
#include "api/handler.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

// A name may have several snapshots, a tag each: without the tag, the id would mean another one, or none. One that has
// a name is known by it.
json::object snapshot_json(const SnapshotView& snapshot, const std::string& tag) {
  const TemplateView& view = snapshot.view;
  json::array names;
  for (const std::string& name : view.names) names.emplace_back(view.row.organization + "/" + name + ":" + tag);
  const json::value id = names.empty() ? json::value(view.row.id + ":" + tag) : names.front();
  return {{"snapshotID", id}, {"names", std::move(names)}};
}

void put_each(const SnapshotView& snapshot, json::array& list) {
  for (const std::string& tag : snapshot.tags) list.push_back(snapshot_json(snapshot, tag));
}

Task<Result<HttpResponse>> take(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(const SandboxRow row, co_await living_row(services, request));
  SnapshotWish wanted;
  if (!request.body.empty()) {
    const auto read = [](ModelReader& reader) { return reader.optional_string("name").value_or(""); };
    BJ_CO_TRY(wanted.name, read_body(request, UnknownKeys::kIgnore, read));
  }
  std::string tag = kDefaultTag;
  if (!wanted.name.empty()) {
    BJ_CO_TRY(wanted.name, TemplateCatalog::without_own_space(request.actor.organization, wanted.name));
    BJ_CO_TRY(const TemplateReference reference, parse_template_reference(wanted.name));
    tag = reference.tag;
  }
  BJ_CO_TRY(const SnapshotView made, co_await services.manager.snapshot(request.actor, row.id, std::move(wanted)));
  co_return json_response(201, snapshot_json(made, tag));
}

// By its name or id: with a tag that one, without all of them. There is nothing to page.
Task<Result<HttpResponse>> find(const Services& services, const HttpRequest& request, std::string name) {
  auto found = co_await services.manager.get_snapshot(request.actor.organization, name);
  const MaybeText sandbox = query_text(request, "sandboxID");
  json::array answer;
  if (found && (!sandbox || found->view.row.sandbox == *sandbox)) {
    const Result<TemplateReference> asked = parse_template_reference(name);
    if (asked && name.find(':') != std::string::npos)
      std::erase_if(found->tags, [&](const std::string& tag) { return tag != asked->tag; });
    put_each(*found, answer);
  }
  co_return json_response(200, answer);
}

Task<Result<HttpResponse>> list(const Services& services, HttpRequest& request) {
  if (MaybeText name = query_text(request, "name")) co_return co_await find(services, request, std::move(*name));
  BJ_CO_TRY(const Page page, newest_page(request));
  BJ_CO_TRY(std::vector<SnapshotView> rows, co_await services.manager.list_snapshots(
                                                request.actor.organization, query_text(request, "sandboxID"), page));
  const bool more = std::ssize(rows) == *page.limit;
  if (more) rows.pop_back();
  json::array snapshots;
  for (const SnapshotView& one : rows) put_each(one, snapshots);
  HttpResponse response = json_response(200, snapshots);
  if (more) {
    const TemplateRow& last = rows.back().view.row;
    response.headers.add("X-Next-Token", page_token(time_of(last.created_at), last.id, page.order));
  }
  co_return response;
}

NewForks read_forks(ModelReader& reader) {
  NewForks wanted;
  wanted.count = reader.optional_integer("count").value_or(1);
  wanted.timeout_s = reader.optional_integer("timeout");
  return wanted;
}

// Each is told for itself: the sandbox, or why there is none.
Task<Result<HttpResponse>> fork(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(const SandboxRow parent, co_await living_row(services, request));
  if (is_paused(parent)) co_return fail(Code::kConflict, "sandbox \"" + parent.id + "\" is paused: resume it first");
  NewForks wanted;
  if (!request.body.empty()) {
    BJ_CO_TRY(wanted, read_body(request, UnknownKeys::kIgnore, read_forks));
  }
  if (wanted.timeout_s.value_or(1) <= 0) co_return fail(Code::kInvalid, "timeout must be greater than 0");
  BJ_CO_TRY(const std::vector<Forked> forks,
            co_await services.manager.fork(request.actor, parent.id, std::move(wanted)));
  json::array answer;
  for (const Forked& one : forks) {
    Result<SandboxRow> row = fail(Code::kInternal, one.error);
    if (one.error.empty()) row = co_await services.manager.get(request.actor.organization, one.id);
    if (row) {
      answer.push_back(json::object{{"sandbox", sandbox_json(services, *row)}});
    } else {
      answer.push_back(json::object{{"error", {{"code", 500}, {"message", row.error().what}}}});
    }
  }
  co_return json_response(201, answer);
}

}  // namespace

void add_snapshot_routes(Router& router, const Services& services) {
  add_route(router, services, Method::kPost, "/sandboxes/{sandboxID}/snapshots", take, "Keep its files as a snapshot");
  add_route(router, services, Method::kGet, "/snapshots", list, "List snapshots in pages");
  add_route(router, services, Method::kPost, "/sandboxes/{sandboxID}/fork", fork, "Make others like it", Work::kRun);
}

}  // namespace bj::e2b
