#include "server/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "base/log.h"

namespace bj {
namespace {

constexpr size_t kLongestId = 128;
constexpr const char* kUnmatched = "unmatched";
constexpr const char* kTraffic = "sandbox traffic";

bool is_sane_id(std::string_view id) {
  return !id.empty() && id.size() <= kLongestId &&
         id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-") ==
             std::string_view::npos;
}

std::string allow_text(const std::vector<Method>& methods) {
  std::string text;
  for (const Method method : methods) text += (text.empty() ? "" : ", ") + std::string(name_of(method));
  return text;
}

HttpResponse with_header(HttpResponse response, std::string_view name, std::string_view value) {
  response.headers.set(name, value);
  return response;
}

Role needed_role(const Route& route) {
  switch (route.options.access) {
    case Access::kAdmin: return Role::kAdmin;
    case Access::kMember: return Role::kMember;
    case Access::kByMethod: return route.method == Method::kGet ? Role::kReadOnly : Role::kMember;
    default: return Role::kReadOnly;
  }
}

// What a client may bring to say who it is.
std::string credential_of(const HttpRequest& request) {
  std::string credential;
  for (const char* name : {"Authorization", "X-API-Key", "X-BARE-PASSWORD"})
    credential.append(request.headers.get(name)).append("\n");
  return credential;
}

bool wants_web_socket(const HttpRequest& request) {
  return has_token(request.headers.get("Upgrade"), "websocket") &&
         has_token(request.headers.get("Connection"), "upgrade");
}

// A browser asks before it lets a page send what it wants to, and asks without a key.
bool is_preflight(const HttpRequest& request) {
  return request.method == Method::kOptions && request.headers.has("Access-Control-Request-Method");
}

// The headers that name a sandbox are not sent along when it asks, but they are announced.
bool announces_sandbox(const HttpRequest& request) {
  return has_token(request.headers.get("Access-Control-Request-Headers"), "E2b-Sandbox-Id");
}

HttpResponse preflight_response() {
  return with_header(empty_response(204), "Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
}

}  // namespace

Task<Result<std::string>> LimitedBody::read() {
  if (length().value_or(0) > limit_) co_return too_long();
  BJ_CO_TRY(std::string piece, co_await body_.read());
  taken_ += piece.size();
  if (taken_ > limit_) co_return too_long();
  co_return piece;
}

tl::unexpected<Error> LimitedBody::too_long() const {
  return fail(Code::kExhausted, fmt::format("The body may have {} bytes at most here", limit_));
}

HttpResponse body_failure(const Error& error) {
  switch (error.code) {
    case Code::kExhausted: return error_response(413, error.what);
    case Code::kUnavailable: return error_response(408, error.what);
    default: return error_response(400, error.what);
  }
}

Dispatcher::Dispatcher(Service service, SitePolicy site, RateLimits rates, Reach reach)
    : service_(std::move(service)), site_(std::move(site)), reach_(reach), limiter_(rates) {
  std::random_device random;
  id_prefix_ = fmt::format("{:08x}{:08x}", random(), random());
}

void Dispatcher::identify(HttpRequest& request) {
  const std::string_view given = request.headers.get("X-Request-Id");
  request.id = is_sane_id(given) ? std::string(given) : fmt::format("{}-{:x}", id_prefix_, ++ids_);
}

Task<HttpResponse> Dispatcher::respond(HttpRequest& request, LimitedBody& body) {
  std::string what;
  try {
    HttpResponse response = co_await handle(request, body);
    if (request.code_and_message) response = with_code_and_message(std::move(response));
    share(request, response);
    co_return response;
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    what = "something that is no std::exception";
  }
  log_error("handler_threw", {{"request_id", request.id}, {"route", request.route}, {"what", what}});
  co_return error_response(500, "An unknown error occurred");
}

Task<HttpResponse> Dispatcher::handle(HttpRequest& request, LimitedBody& body) {
  request.route = kUnmatched;
  if (service_.traffic) {
    const Result<std::optional<Traffic>> traffic = traffic_of(site_, request);
    if (!traffic) co_return error_response(traffic.error());
    if (*traffic) {
      request.route = kTraffic;
      if (is_preflight(request) && service_.own_ports.contains((*traffic)->port) && shares_with(request))
        co_return preflight_response();
      request.body_stream = &body;
      body.set_limit(UINT64_MAX);
      co_return co_await service_.traffic(request, **traffic);
    }
  }
  if (!host_is_ours(site_, request.headers.get("Host"), request.local)) {
    co_return error_response(403,
                             "The Host header must name this server: its IP address, localhost on this machine, or a "
                             "configured host name");
  }
  if (is_preflight(request) && announces_sandbox(request) && shares_with(request)) co_return preflight_response();
  Result<RouteMatch> match = service_.router.match(request.method, request.path);
  if (!match) co_return error_response(400, match.error().what);
  if (std::optional<HttpResponse> refused = refusal(request, *match)) co_return std::move(*refused);
  const Route& route = *match->route;
  request.route = route.pattern.c_str();
  request.path_parameters = std::move(match->parameters);
  request.code_and_message = route.options.errors == ErrorForm::kCodeAndMessage;
  if (std::optional<HttpResponse> refused = co_await authenticate(request, route)) co_return std::move(*refused);
  if (route.options.kind == RouteKind::kWebSocket && !wants_web_socket(request))
    co_return with_header(error_response(426, "This route is a WebSocket"), "Upgrade", "websocket");

  body.set_limit(route.options.body_limit);
  if (route.options.body == BodyKind::kStreamed) {
    request.body_stream = &body;
    co_return co_await route.handler(request);
  }
  tl::expected<std::string, HttpResponse> text = co_await collect(body, request.hold.get());
  if (!text) co_return std::move(text.error());
  request.body = std::move(*text);
  co_return co_await route.handler(request);
}

std::optional<HttpResponse> Dispatcher::refusal(const HttpRequest& request, const RouteMatch& match) const {
  if (!match.route && match.allowed.empty())
    return error_response(404, "There is no such route; GET /openapi.json lists them, /docs shows them");
  if (!match.route && request.method == Method::kOptions)
    return with_header(empty_response(204), "Allow", allow_text(match.allowed));
  if (!match.route) {
    const std::string allowed = allow_text(match.allowed);
    return with_header(error_response(405, "Not this method; allowed here: " + allowed), "Allow", allowed);
  }
  if (!origin_is_ours(site_, request.headers.get("Origin"), request.headers.get("Host"))) {
    return error_response(403, "Pages of another site may not do this; allow their origin in the server's settings");
  }
  return std::nullopt;
}

bool Dispatcher::shares_with(const HttpRequest& request) const {
  const std::string_view origin = request.headers.get("Origin");
  return !origin.empty() && std::find(site_.origins.begin(), site_.origins.end(), origin) != site_.origins.end();
}

void Dispatcher::share(const HttpRequest& request, HttpResponse& response) const {
  if (!shares_with(request)) return;
  response.headers.set("Access-Control-Allow-Origin", request.headers.get("Origin"));
  response.headers.set("Access-Control-Expose-Headers", "X-Request-Id, X-Next-Token, X-Total-Running, Retry-After");
  response.headers.set("Vary", "Origin");
  if (request.method != Method::kOptions) return;
  response.headers.set("Access-Control-Allow-Methods", response.headers.get("Allow"));
  response.headers.set("Access-Control-Allow-Headers", request.headers.get("Access-Control-Request-Headers"));
}

bool Dispatcher::is_public(Access access) const {
  return access == Access::kPublic || (access == Access::kPublicOnLoopback && reach_ == Reach::kLoopback);
}

Task<std::optional<HttpResponse>> Dispatcher::authenticate(HttpRequest& request, const Route& route) {
  if (is_public(route.options.access)) co_return std::nullopt;
  const std::string credential = credential_of(request);
  if (throttle_.holds_off(request.peer, credential, Clock::now())) {
    co_return with_header(error_response(429, "Too many requests with a wrong key came from this address; wait"),
                          "Retry-After", "10");
  }
  Result<Actor> actor = fail(Code::kDenied, "there are no keys");
  if (service_.authenticate) actor = co_await service_.authenticate(request);
  if (!actor && actor.error().code != Code::kDenied) co_return error_response(actor.error());
  if (!actor) {
    throttle_.failed(request.peer, Clock::now());
    co_return with_header(error_response(401, "Unauthorized"), "WWW-Authenticate", "Bearer");
  }
  throttle_.succeeded(request.peer, credential);
  request.actor = std::move(*actor);
  if (std::optional<HttpResponse> refused = limit(request, route)) co_return std::move(*refused);
  if (request.actor.role < needed_role(route))
    co_return error_response(403, "This key's role may not do that: use a key with a higher role");
  co_return std::nullopt;
}

std::optional<HttpResponse> Dispatcher::limit(HttpRequest& request, const Route& route) {
  std::optional<OverLimit> over = limiter_.admit(request.actor, Clock::now(), request.hold);
  if (!over && route.options.work == Work::kRun) over = request.hold->take_run();
  if (!over) return std::nullopt;
  return too_many(*over);
}

HttpResponse Dispatcher::too_many(const OverLimit& over) {
  service_.metrics.counter("belljar_http_limited_total", "Requests over a limit of their key", {{"limit", over.limit}})
      .add();
  return with_header(error_response(429, over.sentence), "Retry-After", std::to_string(over.retry_after_s));
}

Task<tl::expected<std::string, HttpResponse>> Dispatcher::collect(LimitedBody& body, KeyHold* hold) {
  std::string text;
  const uint64_t promised = body.length().value_or(0);
  // What is longer than the route allows is refused by the first read.
  if (hold != nullptr && promised <= body.limit()) {
    if (const std::optional<OverLimit> over = hold->take_bytes(promised)) co_return tl::unexpected(too_many(*over));
  }
  for (;;) {
    Result<std::string> piece = co_await body.read();
    if (!piece) co_return tl::unexpected(body_failure(piece.error()));
    if (piece->empty()) co_return text;
    if (hold != nullptr && !body.length()) {
      if (const auto over = hold->take_bytes(piece->size())) co_return tl::unexpected(too_many(*over));
    }
    if (text.empty())
      text = std::move(*piece);
    else
      text += *piece;
  }
}

Dispatcher::Series& Dispatcher::series(const HttpRequest& request, unsigned status) {
  const auto key = std::make_tuple(request.route, request.method, status);
  const auto found = series_.find(key);
  if (found != series_.end()) return found->second;
  const MetricLabels by_route = {{"route", request.route}, {"method", name_of(request.method)}};
  MetricLabels by_status = by_route;
  by_status["status"] = std::to_string(status);
  Metrics& metrics = service_.metrics;
  Series made{metrics.counter("belljar_http_requests_total", "Requests by route, method and status", by_status),
              metrics.histogram("belljar_http_request_duration_seconds",
                                "From a request's first byte to its answer's last", by_route)};
  return series_.emplace(key, made).first->second;
}

void Dispatcher::record(const HttpRequest& request, unsigned status, uint64_t bytes, Clock::duration duration) {
  Series& counted = series(request, status);
  counted.requests.add();
  counted.duration.observe(std::chrono::duration<double>(duration).count());
  log_event(status >= 500 ? LogLevel::kError : LogLevel::kInfo, "request",
            {{"method", name_of(request.method)},
             {"route", request.route},
             {"status", status},
             {"duration_ms", std::chrono::duration<double, std::milli>(duration).count()},
             {"bytes", bytes},
             {"request_id", request.id},
             {"organization", request.actor.organization}});
}

void Dispatcher::record_refused(const HttpRequest& request, unsigned status) {
  service_.metrics
      .counter("belljar_http_malformed_total", "What could not be read as a request",
               {{"status", std::to_string(status)}})
      .add();
  log_info("malformed_request", {{"status", status}, {"peer", request.peer}, {"request_id", request.id}});
}

}  // namespace bj
