// Tags of templates: given, taken, listed.
#include <boost/json/array.hpp>

#include "api/e2b/template_routes.h"
#include "api/handler.h"
#include "api/time_text.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

Task<Result<HttpResponse>> assign(const TemplateRoutes& routes, HttpRequest& request) {
  BJ_CO_TRY(const json::object body, body_of(request));
  const std::string target = text_of(body, "target");
  const std::vector<std::string> tags = texts_of(body, "tags");
  const auto write = [&] { return routes.templates.catalog.add_tags(request.actor.organization, target, tags); };
  BJ_CO_TRY(const std::string build, co_await offload(routes.templates.threads, write));
  BJ_CO_CHECK(co_await routes.templates.audit.act(request.actor, "template.tag", build));
  co_return json_response(201, json::object{{"buildID", build}, {"tags", json::array(tags.begin(), tags.end())}});
}

Task<Result<HttpResponse>> remove(const TemplateRoutes& routes, HttpRequest& request) {
  BJ_CO_TRY(const json::object body, body_of(request));
  const std::string name = text_of(body, "name");
  const std::vector<std::string> tags = texts_of(body, "tags");
  const auto write = [&] { return routes.templates.catalog.remove_tags(request.actor.organization, name, tags); };
  BJ_CO_CHECK(co_await offload(routes.templates.threads, write));
  BJ_CO_CHECK(co_await routes.templates.audit.act(request.actor, "template.untag", short_name(name)));
  co_return empty_response();
}

Task<Result<HttpResponse>> list(const TemplateRoutes& routes, HttpRequest& request) {
  const std::string reference = request.parameter("template");
  const auto read = [&] { return routes.templates.catalog.tags(request.actor.organization, reference); };
  BJ_CO_TRY(const std::vector<TemplateTagRow> tags, co_await offload(routes.templates.threads, read));
  json::array answer;
  for (const TemplateTagRow& tag : tags)
    answer.push_back(json::object{{"tag", tag.tag}, {"buildID", tag.build}, {"createdAt", time_text(tag.created_at)}});
  co_return json_response(200, answer);
}

}  // namespace

void add_template_tag_routes(Router& router, const TemplateRoutes& routes) {
  add_template_route(router, routes, Method::kPost, "/templates/tags", assign, "Let tags mean what name:tag means");
  add_template_route(router, routes, Method::kDelete, "/templates/tags", remove, "Take tags away");
  add_template_route(router, routes, Method::kGet, "/templates/{template}/tags", list, "The tags of a template");
}

}  // namespace bj::e2b
