// GET /v1/sandboxes/{sandbox_id}/url: where a port of a sandbox is found from outside.
#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <charconv>

#include "api/handler.h"
#include "api/preview/passing.h"
#include "api/preview/preview.h"
#include "base/compact_id.h"

namespace bj::preview {
namespace {

namespace json = boost::json;

constexpr int64_t kLongestLink = 365 * 24 * 3600;

Result<int64_t> number_of(const HttpRequest& request, std::string_view name, int64_t usual, int64_t most) {
  const MaybeText text = query_text(request, name);
  if (!text) return usual;
  int64_t value = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (bad != std::errc() || end != text->data() + text->size() || value < 1 || value > most)
    return fail(Code::kUnprocessable, fmt::format("\"{}\" must be a number from 1 to {}", name, most));
  return value;
}

json::object places(const UrlOptions& options, const HttpRequest& request, const SandboxRow& row, int64_t port,
                    const std::string& token) {
  const std::string query = token.empty() ? "" : fmt::format("?{}={}", kTokenQuery, token);
  const char* const scheme = options.secure ? "https" : "http";
  return {{"url", fmt::format("{}://{}-{}.{}/{}", scheme, port, row.id, options.domain, query)},
          {"path_url", fmt::format("{}://{}/v1/sandboxes/{}/ports/{}/{}", scheme, request.headers.get("Host"), row.id,
                                   port, query)},
          {"access", row.access},
          {"token", token.empty() ? json::value(nullptr) : json::value(token)}};
}

Task<Result<HttpResponse>> url(Services services, const UrlOptions& options, HttpRequest& request) {
  const std::string& id = request.parameter("sandbox_id");
  if (!is_compact_id("sb", id)) co_return fail(Code::kNotFound, "there is no such sandbox");
  if (!query_text(request, "port")) co_return fail(Code::kUnprocessable, "the query parameter \"port\" is missing");
  BJ_CO_TRY(const int64_t port, number_of(request, "port", 0, UINT16_MAX));
  BJ_CO_TRY(const int64_t seconds, number_of(request, "for", 0, kLongestLink));
  BJ_CO_TRY(SandboxRow row, co_await services.manager.get(request.actor.organization, id));
  const MaybeText access = query_text(request, "access");
  if (access && *access != "public" && *access != "private")
    co_return fail(Code::kUnprocessable, "\"access\" must be public or private");
  if (access && request.method != Method::kPost)
    co_return fail(Code::kUnprocessable, "\"access\" changes the sandbox: ask with POST");
  if (access && *access != row.access) {
    BJ_CO_TRY(row, co_await services.manager.set_access(request.actor, id, *access));
  }
  const bool open = row.access == "public";
  const int64_t until = seconds == 0 ? 0 : services.now() + seconds;
  const std::string token = open ? "" : services.tokens.port(id, static_cast<uint16_t>(port), until);
  co_return json_response(200, places(options, request, row, port, token));
}

}  // namespace

void add_routes(Router& router, const Services& services, const UrlOptions& options) {
  RouteOptions route;
  route.access = Access::kMember;  // it gives a token out
  route.doc.tag = "sandboxes";
  route.doc.summary =
      "Where a port of a sandbox is found; ?for= seconds limits the link, ?access= opens or closes ports";
  route.doc.response_schema = json::object{{"type", "object"}};
  for (const char* name : {"port", "for", "access"}) {
    ParameterDoc doc;
    doc.name = name;
    doc.required = std::string_view(name) == "port";
    route.doc.parameters.push_back(doc);
  }
  const Handler handler =
      answering([services, options](HttpRequest& request) { return url(services, options, request); });
  router.add(Method::kGet, "/v1/sandboxes/{sandbox_id}/url", handler, route);
  route.doc.summary = "The same; a POST because ?access= changes something";
  router.add(Method::kPost, "/v1/sandboxes/{sandbox_id}/url", handler, route);
}

}  // namespace bj::preview
