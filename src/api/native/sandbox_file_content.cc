// GET and PUT /v1/sandboxes/{sandbox_id}/files: contents, piece by piece in constant memory, whatever their size.
#include "api/file_transfer.h"
#include "api/native/file_request.h"
#include "api/native/sandbox_json.h"
#include "api/native/sandbox_routes.h"

namespace bj::native {
namespace {

using Opened = SandboxFiles::Opened;

Task<Result<HttpResponse>> read_file(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(const FileTarget target, file_target(request));
  BJ_CO_TRY(Opened opened, from_inside(co_await sandbox->live->files().open_to_read(target.path, target.user)));
  co_return file_response(request, {sandbox, &sandbox->live->files()}, std::move(opened));
}

Task<Result<HttpResponse>> write_file(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(const FileTarget target, file_target(request));
  BJ_CO_TRY(const unsigned mode, file_mode(request));
  BJ_CO_TRY(const bool append, query_flag(request, "append"));
  BJ_CO_CHECK(co_await services.audit.admit());
  SandboxFiles& files = sandbox->live->files();
  BJ_CO_TRY(const Opened opened,
            from_inside(co_await files.open_to_write(target.path, target.user, mode,
                                                     append ? Writing::kAppend : Writing::kReplace, Parents::kMake)));
  auto received = co_await receive_file(request, files, opened);
  Event event;
  event.kind = EventKind::kFileWrite;
  event.action = append ? "sandbox.append_file" : "sandbox.write_file";
  event.actor = request.actor;
  event.subject = sandbox->row.id;
  event.outcome = received ? "success" : "error";
  event.detail = {{"path", short_name(opened.info.path)}, {"bytes", received ? *received : 0}};
  services.audit.add(event);
  if (!received) co_return std::move(received.error());
  BJ_CO_TRY(const FileInfo info, from_inside(co_await files.stat(target.path, target.user)));
  co_return json_response(200, file_json(info));
}

}  // namespace

void add_file_content_routes(Router& router, SandboxServices services) {
  const std::string path = "/v1/sandboxes/{sandbox_id}/files";
  router.add(Method::kGet, path, answering([services](HttpRequest& request) { return read_file(services, request); }),
             reading_route("sandbox files"));
  router.add(Method::kPut, path, answering([services](HttpRequest& request) { return write_file(services, request); }),
             writing_route("sandbox files"));
}

}  // namespace bj::native
