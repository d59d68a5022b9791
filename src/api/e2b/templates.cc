// Templates: made, listed, looked at, shared, removed.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <functional>

#include "api/e2b/page_token.h"
#include "api/e2b/services.h"
#include "api/e2b/template_routes.h"
#include "api/handler.h"
#include "api/time_text.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

constexpr const char* kEnvd = "0.6.13";
constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kMostListed = 1000;

json::array texts(const std::vector<std::string>& list) { return json::array(list.begin(), list.end()); }

json::array full_names(const TemplateView& view) {
  json::array names;
  for (const std::string& name : view.names)
    names.emplace_back(view.row.organization.empty() ? name : view.row.organization + "/" + name);
  return names;
}

json::value time_or_null(const std::optional<int64_t>& time) {
  return time ? json::value(time_text(*time)) : json::value(nullptr);
}

// What a sandbox of it gets.
json::object size_of(const TemplateRoutes& routes, const TemplateRow& row) {
  const double cpus = row.cpus > 0 ? row.cpus : routes.limits.cpus;
  const int64_t memory = row.memory_bytes > 0 ? row.memory_bytes : static_cast<int64_t>(routes.limits.memory_bytes);
  return {{"cpuCount", std::max<int64_t>(1, static_cast<int64_t>(cpus))},
          {"memoryMB", memory / kMiB},
          {"diskSizeMB", static_cast<int64_t>(routes.limits.disk_bytes) / kMiB},
          {"envdVersion", kEnvd}};
}

json::object listed(const TemplateRoutes& routes, const TemplateView& view) {
  json::object object = size_of(routes, view.row);
  object["templateID"] = view.row.id;
  object["buildID"] = view.newest ? view.newest->id : "00000000-0000-4000-8000-000000000000";
  object["buildStatus"] = view.newest ? view.newest->status : "ready";
  object["public"] = view.row.is_public;
  object["aliases"] = texts(view.names);
  object["names"] = full_names(view);
  object["createdAt"] = time_text(view.row.created_at);
  object["updatedAt"] = time_text(view.row.updated_at);
  object["createdBy"] = nullptr;
  object["lastSpawnedAt"] = time_or_null(view.row.last_spawned_at);
  object["spawnCount"] = view.row.spawn_count;
  object["buildCount"] = view.builds;
  return object;
}

// 0: it is not said.
Result<int64_t> number_within(const json::object& body, const char* key, int64_t least, int64_t most) {
  const json::value* const value = body.if_contains(key);
  if (value == nullptr || value->is_null()) return 0;
  if (!value->is_int64() || value->get_int64() < least || value->get_int64() > most)
    return fail(Code::kInvalid, fmt::format("{} must be a whole number from {} to {}", key, least, most));
  return value->get_int64();
}

Task<Result<HttpResponse>> create(const TemplateRoutes& routes, HttpRequest& request) {
  BJ_CO_TRY(const json::object body, body_of(request));
  TemplateCatalog::NewBuild wanted;
  wanted.name = text_of(body, "name");
  if (wanted.name.empty()) wanted.name = text_of(body, "alias");
  wanted.tags = texts_of(body, "tags");
  BJ_CO_TRY(const int64_t cpus, number_within(body, "cpuCount", 1, 4096));
  BJ_CO_TRY(const int64_t memory, number_within(body, "memoryMB", 128, 1 << 20));
  wanted.cpus = static_cast<double>(cpus);
  wanted.memory_bytes = memory * kMiB;
  const auto add = [&]() -> Result<TemplateCatalog::Begun> {
    BJ_TRY(wanted.name, routes.templates.catalog.without_own_space(request.actor.organization, wanted.name));
    return routes.templates.catalog.add_build(request.actor, wanted);
  };
  BJ_CO_TRY(const TemplateCatalog::Begun begun, co_await offload(routes.templates.threads, add));
  TemplateView view;
  view.row = begun.made.row;
  view.names = begun.made.names;
  co_return json_response(202, json::object{{"templateID", begun.made.row.id},
                                            {"buildID", begun.made.build.id},
                                            {"aliases", texts(begun.made.names)},
                                            {"names", full_names(view)},
                                            {"tags", texts(begun.tags)},
                                            {"public", begun.made.row.is_public}});
}

Task<Result<std::vector<TemplateView>>> read_list(const TemplateRoutes& routes, const HttpRequest& request, Page page) {
  const auto read = [&] {
    TemplateFilter filter;
    filter.kind = "template";
    return routes.templates.catalog.list(request.actor.organization, filter, page);
  };
  co_return co_await offload(routes.templates.threads, read);
}

// Takes away what does not fit. Where the next page begins, if there is one.
template <class One, class RowOf>
MaybeText cut_to_page(std::vector<One>& list, const Page& page, RowOf row_of) {
  if (std::ssize(list) < *page.limit) return std::nullopt;
  list.resize(static_cast<size_t>(*page.limit) - 1);
  const auto& last = row_of(list.back());
  return page_token(time_text(last.created_at), last.id, page.order);
}

Task<Result<HttpResponse>> list(const TemplateRoutes& routes, HttpRequest& request) {
  Page page;
  page.limit = kMostListed;
  page.order = Order::kDescending;
  BJ_CO_TRY(const std::vector<TemplateView> views, co_await read_list(routes, request, page));
  json::array answer;
  for (const TemplateView& view : views) answer.push_back(listed(routes, view));
  co_return json_response(200, answer);
}

Task<Result<HttpResponse>> list_paged(const TemplateRoutes& routes, HttpRequest& request) {
  BJ_CO_TRY(const Page page, newest_page(request));
  BJ_CO_TRY(std::vector<TemplateView> views, co_await read_list(routes, request, page));
  const auto row_of = [](const TemplateView& view) -> const TemplateRow& { return view.row; };
  const MaybeText next = cut_to_page(views, page, row_of);
  json::array answer;
  for (const TemplateView& view : views) answer.push_back(listed(routes, view));
  HttpResponse response = json_response(200, answer);
  if (next) response.headers.add("X-Next-Token", *next);
  co_return response;
}

json::object build_json(const TemplateRoutes& routes, const TemplateRow& row, const TemplateBuildRow& made) {
  json::object build = size_of(routes, row);
  build["buildID"] = made.id;
  build["status"] = made.status;
  build["createdAt"] = time_text(made.created_at);
  build["updatedAt"] = time_text(made.updated_at);
  build["finishedAt"] = time_or_null(made.finished_at);
  return build;
}

// Its builds come in pages, the newest first.
Task<Result<HttpResponse>> get(const TemplateRoutes& routes, HttpRequest& request) {
  const std::string reference = request.parameter("template");
  BJ_CO_TRY(const Page page, newest_page(request));
  MaybeText next;
  const auto read = [&]() -> Result<json::object> {
    TemplateCatalog& catalog = routes.templates.catalog;
    BJ_TRY(const TemplateView view, catalog.own(request.actor.organization, reference));
    BJ_TRY(std::vector<TemplateBuildRow> rows, catalog.builds().list(view.row.id));
    if (page.after) {
      const auto last = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.id == *page.after; });
      if (last == rows.end()) return fail(Code::kInvalid, "nextToken is not one of this list");
      rows.erase(rows.begin(), last + 1);
    }
    next = cut_to_page(rows, page, std::identity());
    json::array builds;
    for (const TemplateBuildRow& row : rows) builds.push_back(build_json(routes, view.row, row));
    json::object answer = listed(routes, view);
    answer["builds"] = std::move(builds);
    return answer;
  };
  BJ_CO_TRY(const json::object answer, co_await offload(routes.templates.threads, read));
  HttpResponse response = json_response(200, answer);
  if (next) response.headers.add("X-Next-Token", *next);
  co_return response;
}

Task<Result<HttpResponse>> find_alias(const TemplateRoutes& routes, HttpRequest& request) {
  const std::string alias = request.parameter("alias");
  const auto read = [&]() -> Result<json::object> {
    TemplateCatalog& catalog = routes.templates.catalog;
    if (const Result<TemplateView> own = catalog.own(request.actor.organization, alias))
      return json::object{{"templateID", own->row.id}, {"public", own->row.is_public}};
    BJ_TRY(const ResolvedTemplate found, catalog.resolve(request.actor.organization, alias));
    return json::object{{"templateID", found.id}, {"public", found.is_public}};
  };
  BJ_CO_TRY(const json::object answer, co_await offload(routes.templates.threads, read));
  co_return json_response(200, answer);
}

// "name:tag" is that tag, and the template only with its last one: what other tags mean is other snapshots' data.
Task<Result<HttpResponse>> remove(const TemplateRoutes& routes, HttpRequest& request) {
  const std::string reference = request.parameter("template");
  const auto untag = [&] {
    return routes.templates.catalog.remove_one_of_its_tags(request.actor.organization, reference);
  };
  BJ_CO_TRY(const bool tag_alone, co_await offload(routes.templates.threads, untag));
  if (tag_alone) {
    BJ_CO_CHECK(co_await routes.templates.audit.act(request.actor, "template.untag", short_name(reference)));
  } else {
    BJ_CO_CHECK(co_await routes.templates.builder.remove(request.actor, reference));
  }
  co_return empty_response();
}

Task<Result<HttpResponse>> share(const TemplateRoutes& routes, HttpRequest& request) {
  BJ_CO_TRY(const json::object body, body_of(request));
  const json::value* const given = body.if_contains("public");
  if (given == nullptr || !given->is_bool()) co_return fail(Code::kInvalid, "public must be true or false");
  const std::string reference = request.parameter("template");
  const auto write = [&, is_public = given->get_bool()]() -> Result<TemplateView> {
    BJ_TRY(TemplateView view, routes.templates.catalog.own(request.actor.organization, reference));
    BJ_CHECK(routes.templates.catalog.set_public(request.actor.organization, view.row.id, is_public));
    return view;
  };
  BJ_CO_TRY(const TemplateView view, co_await offload(routes.templates.threads, write));
  BJ_CO_CHECK(co_await routes.templates.audit.act(request.actor, "template.share", view.row.id,
                                                  {{"public", given->get_bool()}}));
  co_return json_response(200, json::object{{"names", full_names(view)}});
}

}  // namespace

Result<json::object> body_of(const HttpRequest& request) {
  json::error_code bad;
  json::value value = json::parse(request.body, bad);
  if (bad || !value.is_object()) return fail(Code::kInvalid, "the body must be a JSON object");
  return std::move(value.get_object());
}

std::string text_of(const json::object& body, std::string_view key) {
  const json::value* const value = body.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::vector<std::string> texts_of(const json::object& body, std::string_view key) {
  std::vector<std::string> list;
  const json::value* const value = body.if_contains(key);
  if (value == nullptr || !value->is_array()) return list;
  for (const json::value& item : value->get_array())
    list.push_back(item.is_string() ? std::string(item.get_string()) : "");
  return list;
}

void add_template_route(Router& router, const TemplateRoutes& routes, Method method, const char* path,
                        TemplateHandler handler, const char* summary, Access access, BodyKind body) {
  RouteOptions options;
  options.access = access;
  options.body = body;
  options.errors = ErrorForm::kCodeAndMessage;
  if (body == BodyKind::kStreamed) options.body_limit = 4ull << 30;
  options.doc.tag = "E2B templates";
  options.doc.summary = summary;
  router.add(method, path, answering([routes, handler](HttpRequest& request) { return handler(routes, request); }),
             std::move(options));
}

void add_template_routes(Router& router, const TemplateRoutes& routes) {
  const auto add = [&](Method method, const char* path, TemplateHandler handler, const char* summary) {
    add_template_route(router, routes, method, path, handler, summary);
  };
  add(Method::kPost, "/v3/templates", create, "A template and its next build, which waits");
  add(Method::kPost, "/v2/templates", create, "The same, for older clients");
  add(Method::kGet, "/templates", list, "Templates, newest first");
  add(Method::kGet, "/v2/templates", list_paged, "The same, in pages");
  add(Method::kGet, "/templates/{template}", get, "A template with its builds");
  add(Method::kGet, "/templates/aliases/{alias}", find_alias, "Whether there is a template of that name");
  add(Method::kDelete, "/templates/{template}", remove, "Remove a template");
  add(Method::kPatch, "/templates/{template}", share, "Let others use it, or no longer");
  add(Method::kPatch, "/v2/templates/{template}", share, "The same");
  add_template_build_routes(router, routes);
  add_template_tag_routes(router, routes);
}

}  // namespace bj::e2b
