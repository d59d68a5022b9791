// /v1/templates/files: archives for COPY steps, uploaded before the build.
#include "api/handler.h"
#include "api/native/template_routes.h"
#include "api/receive_files.h"

namespace bj::native {
namespace {

namespace json = boost::json;

constexpr uint64_t kLargestUpload = 4ull << 30;

Task<Result<HttpResponse>> put(TemplateServices services, HttpRequest& request) {
  const std::string hash = request.parameter("hash");
  if (!is_files_hash(hash)) co_return fail(Code::kInvalid, "a hash of files is 64 hexadecimal digits");
  std::optional<HttpResponse> failed = co_await receive_files(services, request, request.actor.organization, hash);
  if (failed) co_return std::move(*failed);
  co_return json_response(200, json::object{{"hash", hash}, {"present", true}});
}

Task<Result<HttpResponse>> get(TemplateServices services, HttpRequest& request) {
  const std::string hash = request.parameter("hash");
  const auto look = [&] { return services.files.has(request.actor.organization, hash); };
  const bool present = co_await offload(services.threads, look);
  co_return json_response(200, json::object{{"hash", hash}, {"present", present}});
}

}  // namespace

void add_template_file_routes(Router& router, TemplateServices services) {
  const std::string path = "/v1/templates/files/{hash}";
  RouteOptions reading;
  reading.doc.tag = "templates";
  reading.doc.summary = "Whether the archive of a COPY step is there";
  reading.doc.response_schema = json::object{{"type", "object"}};
  RouteOptions writing = reading;
  writing.doc.summary = "Upload the archive (tar, or tar.gz) of a COPY step under the hash that the step names";
  writing.body = BodyKind::kStreamed;
  writing.body_limit = kLargestUpload;
  router.add(Method::kGet, path, answering([services](HttpRequest& request) { return get(services, request); }),
             std::move(reading));
  router.add(Method::kPut, path, answering([services](HttpRequest& request) { return put(services, request); }),
             std::move(writing));
}

}  // namespace bj::native
