// GET and PUT /v1/sandboxes/{sandbox_id}/files: contents, piece by piece in constant memory, whatever their size.
#include <fmt/format.h>

#include <charconv>

#include "api/file_range.h"
#include "api/native/file_request.h"
#include "api/native/sandbox_json.h"
#include "api/native/sandbox_routes.h"
#include "server/dispatcher.h"

namespace bj::native {
namespace {

namespace json = boost::json;

constexpr size_t kPiece = 1 << 20;
constexpr uint64_t kLargestUpload = uint64_t{1} << 40;  // the disk limit of the sandbox comes first
constexpr unsigned kUsualMode = 0644;

using Opened = SandboxFiles::Opened;

// In turn, so that a client holds one piece of memory, however slowly it reads.
Task<void> send_file(std::shared_ptr<HeldSandbox> sandbox, Opened opened, ByteRange range, BodyWriter& body) {
  uint64_t at = range.first;
  uint64_t left = range.length;
  while (left > 0) {
    const size_t most = static_cast<size_t>(std::min<uint64_t>(left, kPiece));
    Result<std::string> piece = co_await sandbox->live->files().read(opened, at, most);
    if (!piece || piece->empty()) co_return;  // it shrank: the client sees that bytes are missing
    at += piece->size();
    left -= piece->size();
    if (!co_await body.write(std::move(*piece))) co_return;
  }
}

Task<Result<HttpResponse>> read_file(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(const FileTarget target, file_target(request));
  BJ_CO_TRY(Opened opened, from_inside(co_await sandbox->live->files().open_to_read(target.path, target.user)));
  const uint64_t size = opened.info.size;
  HttpResponse response = text_response(200, "application/octet-stream", "");
  response.headers.add("Accept-Ranges", "bytes");
  response.headers.add("Content-Disposition", "attachment");  // no browser shows it as a page of ours
  ByteRange range{0, size};
  const std::string_view asked = request.headers.get("Range");
  if (!asked.empty()) {
    const std::optional<ByteRange> part = range_of(asked, size);
    if (!part) {
      response = error_response(416, "the file has no such range");
      response.headers.add("Content-Range", fmt::format("bytes */{}", size));
      co_return response;
    }
    range = *part;
    if (range.length != size) {
      response.status = 206;
      response.headers.add("Content-Range",
                           fmt::format("bytes {}-{}/{}", range.first, range.first + range.length - 1, size));
    }
  }
  response.stream_bytes = range.length;
  response.stream = [sandbox, opened, range](BodyWriter& body) { return send_file(sandbox, opened, range, body); };
  co_return response;
}

Result<unsigned> mode_of(const HttpRequest& request) {
  const MaybeText text = query_text(request, "mode");
  if (!text) return kUsualMode;
  unsigned mode = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), mode, 8);
  if (bad != std::errc() || end != text->data() + text->size() || mode > 0777)
    return fail(Code::kUnprocessable, "\"mode\" must be an octal number from 0 to 777");
  return mode;
}

// Takes the body in and writes it in large pieces. The length, or the answer to a body that can't be read.
Task<tl::expected<uint64_t, HttpResponse>> receive(HttpRequest& request, SandboxFiles& files, const Opened& opened) {
  uint64_t written = 0;
  std::string waiting;
  waiting.reserve(2 * kPiece);
  for (bool more = true; more;) {
    Result<std::string> piece = co_await request.body_stream->read();
    if (!piece) co_return tl::unexpected(body_failure(piece.error()));
    more = !piece->empty();
    waiting += *piece;
    if (waiting.empty() || (more && waiting.size() < kPiece)) continue;
    written += waiting.size();
    const Result<void> kept = co_await files.write(opened, waiting);
    waiting.clear();
    if (!kept && kept.error().sys == ENOSPC)
      co_return tl::unexpected(error_response(507, "the sandbox's disk is full: what came before that was written"));
    if (!kept) co_return tl::unexpected(error_response(from_inside(kept.error())));
  }
  co_return written;
}

Task<Result<HttpResponse>> write_file(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(const FileTarget target, file_target(request));
  BJ_CO_TRY(const unsigned mode, mode_of(request));
  BJ_CO_TRY(const bool append, query_flag(request, "append"));
  BJ_CO_CHECK(co_await services.audit.admit());
  SandboxFiles& files = sandbox->live->files();
  BJ_CO_TRY(const Opened opened,
            from_inside(co_await files.open_to_write(target.path, target.user, mode,
                                                     append ? Writing::kAppend : Writing::kReplace, Parents::kMake)));
  auto received = co_await receive(request, files, opened);
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
  RouteOptions reading;
  reading.doc.tag = "sandbox files";
  reading.doc.summary = "A file's contents; Range gives a part";
  reading.doc.response_type = "application/octet-stream";
  reading.doc.parameters = file_parameters();
  RouteOptions writing = reading;
  writing.doc.summary = "Write a file, and the directories above it; ?append=true adds to its end";
  writing.doc.response_type = "application/json";
  writing.doc.response_schema = json::object{{"type", "object"}};
  writing.body = BodyKind::kStreamed;
  writing.body_limit = kLargestUpload;
  for (const char* name : {"mode", "append"}) {
    ParameterDoc doc;
    doc.name = name;
    writing.doc.parameters.push_back(doc);
  }
  router.add(Method::kGet, path, answering([services](HttpRequest& request) { return read_file(services, request); }),
             std::move(reading));
  router.add(Method::kPut, path, answering([services](HttpRequest& request) { return write_file(services, request); }),
             std::move(writing));
}

}  // namespace bj::native
