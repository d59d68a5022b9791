#include "server/builtin_routes.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "server/docs_page.h"

namespace bj {
namespace {

namespace json = boost::json;

RouteOptions options_of(Access access, std::string summary, std::string type) {
  RouteOptions options;
  options.access = access;
  options.doc.summary = std::move(summary);
  options.doc.tag = "server";
  options.doc.response_type = std::move(type);
  return options;
}

RouteOptions health_options() {
  RouteOptions options = options_of(Access::kPublic, "Whether the server is up", "application/json");
  options.doc.response_schema = {
      {"type", "object"},
      {"properties",
       {{"status", {{"type", "string"}}}, {"version", {{"type", "string"}}}, {"seal_full", {{"type", "boolean"}}}}}};
  return options;
}

}  // namespace

void add_builtin_routes(Router& router, Metrics& metrics, const HealthFacts& facts) {
  const std::string health =
      json::serialize(json::object{{"status", "ok"}, {"version", facts.version}, {"seal_full", facts.seal_full}});
  const std::string welcome =
      "Belljar " + facts.version + " is running; its health is at /health, its API is described at /docs\n";
  router.add(
      Method::kGet, "/",
      [welcome](HttpRequest&) -> Task<HttpResponse> {
        co_return text_response(200, "text/plain; charset=utf-8", welcome);
      },
      options_of(Access::kPublic, "A word for people", "text/plain"));
  router.add(
      Method::kGet, "/health",
      [health](HttpRequest&) -> Task<HttpResponse> { co_return json_text_response(200, health); }, health_options());
  router.add(
      Method::kGet, "/metrics",
      [&metrics](HttpRequest&) -> Task<HttpResponse> {
        co_return text_response(200, "text/plain; version=0.0.4; charset=utf-8", metrics.text());
      },
      options_of(Access::kPublicOnLoopback, "Metrics in Prometheus' text format", "text/plain"));
  router.add(
      Method::kGet, "/openapi.json",
      [&router, version = facts.version](HttpRequest&) -> Task<HttpResponse> {
        co_return json_response(200, openapi(router, version));
      },
      options_of(Access::kPublicOnLoopback, "This API as an OpenAPI document", "application/json"));
  router.add(
      Method::kGet, "/docs", [](HttpRequest&) -> Task<HttpResponse> { co_return docs_page(); },
      options_of(Access::kPublic, "A page that shows this API", "text/html"));
}

}  // namespace bj
