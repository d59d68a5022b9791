// /sandboxes and /v2/sandboxes: made, connected to, looked at, paused, ended.
#include "api/e2b/sandbox_bodies.h"
#include "api/e2b/sandbox_json.h"
#include "api/e2b/services.h"
#include "api/handler.h"
#include "api/idempotency_key.h"
#include "control/lifecycle.h"
#include "control/template_reference.h"
#include "tools/stored_json.h"

namespace bj::e2b {
namespace {

constexpr int64_t kUsualTimeout = 300;
constexpr int64_t kShortestRefresh = 15;

Task<Result<HttpResponse>> make(const Services& services, HttpRequest& request, ApiVersion version) {
  BJ_CO_TRY(NewSandbox wanted, read_new_sandbox(request, version));
  BJ_CO_TRY(wanted.idempotency_key, idempotency_key_of(request));
  const std::string name = wanted.template_name;
  const Result<SandboxRow> row = co_await services.manager.create(request.actor, std::move(wanted));
  if (row) co_return json_response(201, sandbox_json(services, *row));
  // What it is to be made of is not a field that is wrong, but something that is not there: the template, or the tag.
  const std::string tagged = name.find(':') == std::string::npos ? name + ":" + kDefaultTag : name;
  const auto names = co_await services.manager.names_of_template(request.actor.organization, tagged);
  if (!names && names.error().code == Code::kNotFound) co_return tl::unexpected(names.error());
  co_return tl::unexpected(row.error());
}

Task<Result<HttpResponse>> create(const Services& services, HttpRequest& request) {
  return make(services, request, ApiVersion::kFirst);
}

Task<Result<HttpResponse>> create_second(const Services& services, HttpRequest& request) {
  return make(services, request, ApiVersion::kSecond);
}

Task<Result<HttpResponse>> get(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(const SandboxRow row, co_await living_row(services, request));
  co_return json_response(200, detail_json(services, row, request.actor));
}

Task<Result<HttpResponse>> remove(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(const SandboxRow row, co_await living_row(services, request));
  const Result<void> removed = co_await services.manager.remove(request.actor, row.id);
  // Somebody else ends it at this moment: to this one, it is gone.
  if (!removed && removed.error().code == Code::kConflict) co_return fail(Code::kNotFound, "the sandbox is gone");
  BJ_CO_CHECK(removed);
  co_return empty_response();
}

struct TimeBody {
  std::optional<int64_t> timeout, duration;
  std::optional<bool> memory;
};

TimeBody read_times(ModelReader& reader) {
  TimeBody body;
  body.timeout = reader.optional_integer("timeout");
  body.duration = reader.optional_integer("duration");
  body.memory = reader.optional_boolean("memory");
  return body;
}

Result<TimeBody> times_of(const HttpRequest& request) {
  if (request.body.empty()) return TimeBody();
  return read_body(request, UnknownKeys::kIgnore, read_times);
}

Task<Result<HttpResponse>> set_timeout(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(const SandboxRow row, co_await living_row(services, request));
  BJ_CO_TRY(const TimeBody body, times_of(request));
  if (!body.timeout) co_return fail(Code::kInvalid, "timeout is missing");
  BJ_CO_CHECK(co_await services.manager.set_timeout(request.actor, row.id, std::max<int64_t>(*body.timeout, 0),
                                                    TimeoutRule::kSet));
  co_return empty_response();
}

Task<Result<HttpResponse>> refresh(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(const SandboxRow row, co_await living_row(services, request));
  BJ_CO_TRY(const TimeBody body, times_of(request));
  const int64_t seconds = std::max(body.duration.value_or(0), kShortestRefresh);
  BJ_CO_CHECK(co_await services.manager.set_timeout(request.actor, row.id, seconds, TimeoutRule::kOnlyLonger));
  co_return empty_response();
}

// With that much time. Who does not want the memory back has it boot from its files.
Task<Result<Resumed>> wake(const Services& services, const HttpRequest& request, const SandboxRow& row,
                           const TimeBody& body) {
  const bool has_memory = row.state == state_name(SandboxState::kPaused);
  if (has_memory && !body.memory.value_or(true))
    BJ_CO_CHECK(co_await services.manager.pause(request.actor, row.id, PauseKeeps::kFiles));
  co_return co_await services.manager.resume(request.actor, row.id, body.timeout.value_or(kUsualTimeout));
}

// Running: its end moves away at most. Paused: it goes on.
Task<Result<HttpResponse>> connect(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(SandboxRow row, co_await living_row(services, request));
  BJ_CO_TRY(const TimeBody body, times_of(request));
  const int64_t seconds = body.timeout.value_or(kUsualTimeout);
  if (seconds <= 0) co_return fail(Code::kInvalid, "timeout must be greater than 0");
  unsigned status = 200;
  if (is_paused(row)) {
    const Result<Resumed> resumed = co_await wake(services, request, row, body);
    if (resumed) status = 201;
    if (!resumed && resumed.error().code != Code::kConflict) co_return tl::unexpected(resumed.error());
  }
  if (status == 200) {
    BJ_CO_TRY(row, co_await services.manager.set_timeout(request.actor, row.id, seconds, TimeoutRule::kOnlyLonger));
  }
  co_return json_response(status, sandbox_json(services, row));
}

Task<Result<HttpResponse>> resume(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(const SandboxRow row, co_await living_row(services, request));
  BJ_CO_TRY(const TimeBody body, times_of(request));
  BJ_CO_CHECK(co_await wake(services, request, row, body));
  co_return json_response(201, sandbox_json(services, row));
}

Task<Result<HttpResponse>> pause(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(const SandboxRow row, co_await living_row(services, request));
  BJ_CO_TRY(const TimeBody body, times_of(request));
  if (is_paused(row)) co_return fail(Code::kConflict, "sandbox \"" + row.id + "\" is already paused");
  const PauseKeeps keeps = body.memory.value_or(true) ? PauseKeeps::kMemory : PauseKeeps::kFiles;
  BJ_CO_CHECK(co_await services.manager.pause(request.actor, row.id, keeps));
  co_return empty_response();
}

}  // namespace

void add_sandbox_routes(Router& router, const Services& services) {
  add_route(router, services, Method::kPost, "/sandboxes", create, "Create a sandbox");
  add_route(router, services, Method::kPost, "/v2/sandboxes", create_second, "Create a secured sandbox");
  add_route(router, services, Method::kGet, "/sandboxes/{sandboxID}", get, "Get a sandbox");
  add_route(router, services, Method::kDelete, "/sandboxes/{sandboxID}", remove, "End a sandbox");
  add_route(router, services, Method::kPost, "/sandboxes/{sandboxID}/timeout", set_timeout, "Set when it ends");
  add_route(router, services, Method::kPost, "/sandboxes/{sandboxID}/refreshes", refresh, "Let it live longer");
  add_route(router, services, Method::kPost, "/sandboxes/{sandboxID}/connect", connect, "Connect, resuming it");
  add_route(router, services, Method::kPost, "/v2/sandboxes/{sandboxID}/connect", connect, "Connect, resuming it");
  add_route(router, services, Method::kPost, "/sandboxes/{sandboxID}/resume", resume, "Resume it");
  add_route(router, services, Method::kPost, "/sandboxes/{sandboxID}/pause", pause, "Pause it");
}

}  // namespace bj::e2b
