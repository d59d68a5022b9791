#include <fmt/format.h>

#include "api/preview/pages.h"
#include "api/preview/passing.h"
#include "api/preview/preview.h"

namespace bj::preview {
namespace {

constexpr int64_t kCookieLife = 12 * 3600;

std::string own_path(const Traffic& traffic) {
  return traffic.by == Traffic::By::kPath ? fmt::format("/v1/sandboxes/{}/ports/{}", traffic.sandbox, traffic.port)
                                          : std::string();
}

// As a place on this host: "//example.org/" would be another one's name.
std::string place_here(std::string_view path) {
  const bool names_host = path.starts_with("//") || path.starts_with("/\\");
  return (names_host ? "/." : "") + std::string(path);
}

// The link's token goes into a cookie and out of the address: it is not to be seen, sent as a referrer or shared.
HttpResponse keep_in_cookie(const HttpRequest& request, const Traffic& traffic, const std::string& token) {
  HttpResponse response;
  response.status = 302;
  const std::string query = query_without_token(request.query_text);
  response.headers.add("Location", own_path(traffic) + place_here(traffic.path) + (query.empty() ? "" : "?" + query));
  response.headers.add("Set-Cookie",
                       fmt::format("{}={}; Path={}/; HttpOnly; SameSite=Lax; Max-Age={}{}", kTokenCookie, token,
                                   own_path(traffic), kCookieLife, request.secure ? "; Secure" : ""));
  response.headers.add("Referrer-Policy", "no-referrer");
  return response;
}

Task<bool> has_key(Services services, const HttpRequest& request, const SandboxRow& row) {
  if (!services.authenticate) co_return false;
  const Result<Actor> actor = co_await services.authenticate(request);
  co_return actor && actor->organization == row.organization && actor->role >= Role::kMember;
}

}  // namespace

Task<std::optional<HttpResponse>> refusal(Services services, const HttpRequest& request, const Traffic& traffic,
                                          const SandboxRow& row) {
  if (row.access == "public") co_return std::nullopt;
  const auto opens = [&](std::string_view token) {
    return !token.empty() && services.tokens.opens_port(token, row.id, traffic.port, services.now());
  };
  if (SandboxTokens::same(request.headers.get(kTrafficHeader), services.tokens.traffic(row.id))) co_return std::nullopt;
  if (opens(request.headers.get(kTokenHeader)) || opens(cookie_of(request.headers.get("Cookie"), kTokenCookie)))
    co_return std::nullopt;
  if (const std::string* const link = request.query.find(kTokenQuery); link != nullptr && opens(*link)) {
    if (is_page_visit(request)) co_return keep_in_cookie(request, traffic, *link);
    co_return std::nullopt;
  }
  if (traffic.by == Traffic::By::kPath && co_await has_key(services, request, row)) co_return std::nullopt;
  co_return error_answer(request, traffic, 403, "This port is private: a token or a signed link is needed");
}

}  // namespace bj::preview
