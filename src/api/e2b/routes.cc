#include "api/e2b/services.h"
#include "api/handler.h"
#include "base/compact_id.h"
#include "control/lifecycle.h"

namespace bj::e2b {
namespace {

// An organization that has all it may have is told of a limit of its own (429): 503 would have its clients try again.
Task<Result<HttpResponse>> telling_quotas(Function function, const Services& services, HttpRequest& request) {
  Result<HttpResponse> answer = co_await function(services, request);
  if (!answer && is_over_quota(answer.error())) co_return error_response(429, answer.error().what);
  co_return answer;
}

}  // namespace

void add_route(Router& router, const Services& services, Method method, const char* path, Function function,
               const char* summary, Work work) {
  RouteOptions options;
  options.errors = ErrorForm::kCodeAndMessage;
  options.work = work;
  options.doc.tag = "e2b";
  options.doc.summary = summary;
  router.add(method, path, answering([&services, function](HttpRequest& request) {
               return telling_quotas(function, services, request);
             }),
             std::move(options));
}

bool is_paused(const SandboxRow& row) {
  return row.state == state_name(SandboxState::kPaused) ||
         (row.state == state_name(SandboxState::kStopped) && row.kept);
}

Task<Result<SandboxRow>> living_row(const Services& services, const HttpRequest& request) {
  const std::string& given = request.parameter("sandboxID");
  const std::string id = given.substr(0, given.find('-'));
  const auto missing = [&id] { return fail(Code::kNotFound, "sandbox \"" + id + "\" not found"); };
  if (!is_compact_id("sb", id)) co_return fail(Code::kNotFound, "there is no such sandbox");
  Result<SandboxRow> row = co_await services.manager.get(request.actor.organization, id);
  if (!row && row.error().code == Code::kNotFound) co_return missing();
  if (row && row->state != state_name(SandboxState::kRunning) && !is_paused(*row)) co_return missing();
  co_return row;
}

void add_routes(Router& router, const Services& services) {
  add_sandbox_routes(router, services);
  add_list_routes(router, services);
  add_insight_routes(router, services);
  add_snapshot_routes(router, services);
  add_network_routes(router, services);
  add_signed_file_routes(router, services);
}

}  // namespace bj::e2b
