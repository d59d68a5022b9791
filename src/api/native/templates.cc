// /v1/templates: built, listed, looked at, tagged, shared, removed.
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "api/handler.h"
#include "api/native/output_events.h"
#include "api/native/template_routes.h"
#include "api/route_group.h"
#include "base/id.h"

namespace bj::native {
namespace {

namespace json = boost::json;

constexpr int64_t kUsualLimit = 100;

// Runs on the store's threads.
template <class Work>
auto on_store(TemplateServices services, Work work) {
  return offload(services.threads, std::move(work));
}

Result<std::string> build_id_of(const HttpRequest& request) {
  const std::string& id = request.parameter("build_id");
  if (is_uuid4(id)) return id;
  return fail(Code::kNotFound, "there is no such build");
}

Task<Result<HttpResponse>> build(TemplateServices services, HttpRequest& request) {
  BJ_CO_TRY(BuildBody body, read_build(request));
  const auto add = [&] { return services.catalog.add_build(request.actor, body.wanted); };
  BJ_CO_TRY(const TemplateCatalog::Begun begun, co_await on_store(services, add));
  const std::string id = begun.made.row.id;
  BJ_CO_TRY(const TemplateBuildRow row,
            co_await services.builder.begin(request.actor, id, begun.made.build.id, std::move(body.request),
                                            std::move(body.login)));
  const auto read = [&] { return services.catalog.table().get(request.actor.organization, id); };
  BJ_CO_TRY(const TemplateView view, co_await on_store(services, read));
  json::object answer = template_json(view);
  answer["build"] = build_json(row);
  co_return json_response(200, answer);
}

Task<Result<HttpResponse>> list(TemplateServices services, HttpRequest& request) {
  BJ_CO_TRY(const Page page, page_of(request, kUsualLimit, Order::kDescending));
  const bool first = !page.after && !page.before;
  const auto read = [&]() -> Result<std::vector<TemplateView>> {
    BJ_TRY(std::vector<TemplateView> views, services.catalog.list(request.actor.organization, {}, page));
    if (!first) return views;
    BJ_TRY(const std::vector<TemplateView> shared, services.catalog.for_everybody());
    for (const TemplateView& view : shared) {
      if (view.row.organization != request.actor.organization) views.push_back(view);
    }
    return views;
  };
  BJ_CO_TRY(const std::vector<TemplateView> views, co_await on_store(services, read));
  json::array answer;
  for (const TemplateView& view : views) answer.push_back(template_json(view));
  co_return json_response(200, answer);
}

Task<Result<HttpResponse>> get(TemplateServices services, HttpRequest& request) {
  const std::string reference = request.parameter("template");
  const auto read = [&]() -> Result<json::object> {
    Result<TemplateView> own = services.catalog.own(request.actor.organization, reference);
    if (!own) {
      BJ_TRY(const ResolvedTemplate resolved, services.catalog.resolve(request.actor.organization, reference));
      return json::object{{"id", resolved.id},
                          {"names", json::array(resolved.names.begin(), resolved.names.end())},
                          {"public", resolved.is_public},
                          {"status", "ready"}};
    }
    json::object answer = template_json(*own);
    json::array builds, tags;
    BJ_TRY(const std::vector<TemplateBuildRow> rows, services.catalog.builds().list(own->row.id));
    for (const TemplateBuildRow& row : rows) builds.push_back(build_json(row));
    BJ_TRY(const std::vector<TemplateTagRow> tagged, services.catalog.table().tags(own->row.id));
    for (const TemplateTagRow& tag : tagged) tags.push_back(json::object{{"tag", tag.tag}, {"build_id", tag.build}});
    answer["builds"] = std::move(builds);
    answer["tags"] = std::move(tags);
    return answer;
  };
  BJ_CO_TRY(const json::object answer, co_await on_store(services, read));
  co_return json_response(200, answer);
}

Task<Result<HttpResponse>> remove(TemplateServices services, HttpRequest& request) {
  BJ_CO_CHECK(co_await services.builder.remove(request.actor, request.parameter("template")));
  co_return empty_response();
}

Task<Result<HttpResponse>> share(TemplateServices services, HttpRequest& request) {
  const auto read = [](ModelReader& reader) {
    const json::value* const given = reader.required("public");
    if (given != nullptr && !given->is_bool())
      reader.wrong("public", {"bool_type", "Input should be a valid boolean"}, *given);
    return given != nullptr && given->is_bool() && given->get_bool();
  };
  BJ_CO_TRY(const bool is_public, read_body(request, UnknownKeys::kForbid, read));
  const std::string reference = request.parameter("template");
  const auto write = [&]() -> Result<TemplateView> {
    BJ_CHECK(services.catalog.set_public(request.actor.organization, reference, is_public));
    return services.catalog.own(request.actor.organization, reference);
  };
  BJ_CO_TRY(const TemplateView view, co_await on_store(services, write));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "template.share", view.row.id, {{"public", is_public}}));
  co_return json_response(200, template_json(view));
}

std::vector<std::string> read_tags(ModelReader& reader) {
  if (!reader.given("tags")) reader.wrong("tags", {"missing", "Field required"}, nullptr);
  return reader.optional_strings("tags").value_or(std::vector<std::string>());
}

Task<Result<HttpResponse>> add_tags(TemplateServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::vector<std::string> tags, read_body(request, UnknownKeys::kForbid, read_tags));
  const std::string reference = request.parameter("template");
  const auto write = [&] { return services.catalog.add_tags(request.actor.organization, reference, tags); };
  BJ_CO_TRY(const std::string id, co_await on_store(services, write));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "template.tag", id));
  co_return json_response(200, json::object{{"build_id", id}, {"tags", json::array(tags.begin(), tags.end())}});
}

Task<Result<HttpResponse>> remove_tag(TemplateServices services, HttpRequest& request) {
  const std::string reference = request.parameter("template"), tag = request.parameter("tag");
  const auto write = [&] { return services.catalog.remove_tags(request.actor.organization, reference, {tag}); };
  BJ_CO_CHECK(co_await on_store(services, write));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "template.untag", reference));
  co_return empty_response();
}

// The template's own build, for its owner.
Task<Result<TemplateBuildRow>> own_build(TemplateServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, build_id_of(request));
  const std::string reference = request.parameter("template");
  const auto read = [&]() -> Result<TemplateBuildRow> {
    BJ_TRY(const TemplateView view, services.catalog.own(request.actor.organization, reference));
    return services.catalog.builds().get(view.row.id, id);
  };
  co_return co_await on_store(services, read);
}

Task<Result<HttpResponse>> get_build(TemplateServices services, HttpRequest& request) {
  BJ_CO_TRY(const TemplateBuildRow row, co_await own_build(services, request));
  co_return json_response(200, build_json(row));
}

Task<Result<HttpResponse>> cancel_build(TemplateServices services, HttpRequest& request) {
  BJ_CO_TRY(const TemplateBuildRow row, co_await own_build(services, request));
  BJ_CO_CHECK(services.builder.cancel(request.actor.organization, row.id));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "template.cancel", row.template_id, {{"build", row.id}}));
  co_return empty_response();
}

// What is stored first, then what comes, then how it ended.
Task<void> send_logs(TemplateServices services, TemplateBuildRow row, EventStream& events) {
  if (const std::shared_ptr<BuildLog> log = services.builder.log_of(row.id)) {
    const ClientWatch watch(
        co_await asio::this_coro::executor, [&events] { return events.gone(); }, [log] { log->wake(); });
    for (size_t place = 0; !events.gone();) {
      const std::optional<BuildLogRow> entry = co_await log->at(place);
      if (!entry && log->closed()) break;
      if (!entry) continue;
      ++place;
      if (!co_await events.send("log", json::serialize(log_json(*entry)))) co_return;
    }
  } else {
    const auto read = [&] { return services.catalog.builds().logs(row.id, 0, 1'000'000); };
    const auto logs = co_await on_store(services, read);
    if (!logs) co_return;
    for (const BuildLogRow& entry : *logs) {
      if (!co_await events.send("log", json::serialize(log_json(entry)))) co_return;
    }
  }
  const auto read = [&] { return services.catalog.builds().get(row.template_id, row.id); };
  const Result<TemplateBuildRow> ended = co_await on_store(services, read);
  if (ended) (void)co_await events.send("end", json::serialize(build_json(*ended)));
}

Task<Result<HttpResponse>> build_logs(TemplateServices services, HttpRequest& request) {
  BJ_CO_TRY(const TemplateBuildRow row, co_await own_build(services, request));
  co_return event_stream([services, row](EventStream& events) { return send_logs(services, row, events); });
}

}  // namespace

void add_template_routes(Router& router, TemplateServices services) {
  RouteGroup<TemplateServices> group(router, "/v1/templates", "templates", services);
  const json::value object = json::object{{"type", "object"}};
  const json::value text = json::object{{"type", "string"}};
  const json::value texts = json::object{{"type", "array"}, {"items", text}};
  const json::value body = json::object{{"type", "object"},
                                        {"required", {"name"}},
                                        {"properties",
                                         {{"name", text},
                                          {"tags", texts},
                                          {"from_template", text},
                                          {"from_image", text},
                                          {"steps", {{"type", "array"}, {"items", object}}},
                                          {"dockerfile", text},
                                          {"files", object},
                                          {"start_command", text},
                                          {"ready_command", text},
                                          {"registry", object},
                                          {"network", json::object()},
                                          {"cpus", {{"type", "number"}}},
                                          {"memory_bytes", {{"type", "integer"}}},
                                          {"force", {{"type", "boolean"}}}}}};
  const json::value tags = json::object{{"type", "object"}, {"required", {"tags"}}, {"properties", {{"tags", texts}}}};
  group.add(Method::kPost, "", build, "Build a template from steps or a Dockerfile, in the background", body, object,
            {Access::kByMethod, {}, Work::kRun});
  group.add(Method::kGet, "", list, "List templates, newest first, with those that everybody has", nullptr,
            json::object{{"type", "array"}, {"items", object}}, {Access::kByMethod, page_parameters()});
  group.add(Method::kGet, "/{template}", get, "Get a template by its name or id", nullptr, object);
  group.add(Method::kPatch, "/{template}", share, "Let others use it, or no longer",
            json::object{{"type", "object"}, {"properties", {{"public", {{"type", "boolean"}}}}}}, object);
  group.add(Method::kDelete, "/{template}", remove, "Remove a template with all its builds", nullptr, nullptr);
  group.add(Method::kPost, "/{template}/tags", add_tags, "Let more tags mean what name:tag means", tags, object);
  group.add(Method::kDelete, "/{template}/tags/{tag}", remove_tag, "Remove a tag", nullptr, nullptr);
  group.add(Method::kGet, "/{template}/builds/{build_id}", get_build, "How a build stands", nullptr, object);
  group.add(Method::kDelete, "/{template}/builds/{build_id}", cancel_build, "Stop a build", nullptr, nullptr);
  group.add(Method::kGet, "/{template}/builds/{build_id}/logs", build_logs,
            "What a build says, as events: what it has said, and what comes", nullptr, object);
  add_template_file_routes(router, services);
  add_template_network_routes(router, services);
  add_template_export_routes(router, services);
}

}  // namespace bj::native
