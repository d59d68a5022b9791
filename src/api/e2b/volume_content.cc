// /volumecontent/{volumeID}: files of a volume, for whoever has its token.
#include <boost/json/array.hpp>
#include <charconv>

#include "api/e2b/volume_routes.h"
#include "api/file_transfer.h"
#include "api/handler.h"
#include "api/time_text.h"
#include "control/volume_files.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

constexpr uint64_t kLargestUpload = uint64_t{1} << 40;  // the volume's size comes first
constexpr uint32_t kLargestId = 65535;
constexpr uint32_t kLargestMode = 07777;

// One request to one volume whose token it has.
struct ContentCall {
  const VolumeRoutes& routes;
  HttpRequest& request;
  VolumeFiles& files;
  std::string organization, volume, path;
};

const char* type_name(FileKind kind) {
  switch (kind) {
    case FileKind::kFile: return "file";
    case FileKind::kDirectory: return "directory";
    case FileKind::kLink: return "symlink";
    case FileKind::kOther: break;
  }
  return "unknown";
}

json::object entry_json(const FileInfo& info) {
  json::object entry{{"name", info.name},
                     {"type", type_name(info.kind)},
                     {"path", info.path},
                     {"size", info.size},
                     {"mode", info.mode},
                     {"uid", info.uid},
                     {"gid", info.gid},
                     {"atime", time_text(info.accessed_us)},
                     {"mtime", time_text(info.modified_us)},
                     {"ctime", time_text(info.changed_us)}};
  if (info.kind == FileKind::kLink) entry["target"] = info.link_target;
  return entry;
}

Result<std::optional<uint32_t>> number_of(const HttpRequest& request, const char* name, uint32_t largest) {
  const MaybeText text = query_text(request, name);
  if (!text) return std::optional<uint32_t>();
  uint32_t number = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (bad != std::errc() || end != text->data() + text->size() || number > largest)
    return fail(Code::kInvalid, std::string(name) + " must be a number from 0 to " + std::to_string(largest));
  return std::optional(number);
}

Result<VolumeRights> rights_of(const HttpRequest& request) {
  VolumeRights rights;
  BJ_TRY(rights.uid, number_of(request, "uid", kLargestId));
  BJ_TRY(rights.gid, number_of(request, "gid", kLargestId));
  BJ_TRY(rights.mode, number_of(request, "mode", kLargestMode));
  return rights;
}

void receipt(const ContentCall& call, const char* action, bool done) {
  Event event;
  event.kind = EventKind::kFileWrite;
  event.action = action;
  event.actor.organization = call.organization;
  event.actor.user.clear();  // a token says whose the volume is, not who asks
  event.subject = call.volume;
  event.outcome = done ? "success" : "error";
  event.detail = {{"path", short_name(call.path)}};
  call.routes.audit.add(event);
}

Task<Result<HttpResponse>> stat(ContentCall& call) {
  BJ_CO_TRY(const FileInfo info, from_inside(co_await call.files.stat(call.path)));
  co_return json_response(200, entry_json(info));
}

VolumeRights read_rights(ModelReader& reader) {
  VolumeRights rights;
  if (const auto uid = reader.optional_integer("uid", {0, kLargestId})) rights.uid = static_cast<uid_t>(*uid);
  if (const auto gid = reader.optional_integer("gid", {0, kLargestId})) rights.gid = static_cast<gid_t>(*gid);
  if (const auto mode = reader.optional_integer("mode", {0, kLargestMode})) rights.mode = static_cast<unsigned>(*mode);
  return rights;
}

Task<Result<HttpResponse>> change(ContentCall& call) {
  BJ_CO_TRY(const VolumeRights rights, read_body(call.request, UnknownKeys::kIgnore, read_rights));
  BJ_CO_CHECK(co_await call.routes.audit.admit());
  const Result<FileInfo> changed = from_inside(co_await call.files.change(call.path, rights));
  receipt(call, "volume.change_file", changed.has_value());
  if (!changed) co_return tl::unexpected(changed.error());
  co_return json_response(200, entry_json(*changed));
}

Task<Result<HttpResponse>> remove(ContentCall& call) {
  BJ_CO_CHECK(co_await call.routes.audit.admit());
  const Result<void> removed = from_inside(co_await call.files.remove(call.path));
  receipt(call, "volume.remove_file", removed.has_value());
  BJ_CO_CHECK(removed);
  co_return empty_response();
}

Task<Result<HttpResponse>> list(ContentCall& call) {
  BJ_CO_TRY(const std::optional<uint32_t> depth, number_of(call.request, "depth", VolumeFiles::kDeepest));
  BJ_CO_TRY(const std::vector<FileInfo> entries,
            from_inside(co_await call.files.list(call.path, static_cast<int>(depth.value_or(1)))));
  json::array listed;
  for (const FileInfo& entry : entries) listed.push_back(entry_json(entry));
  co_return json_response(200, listed);
}

Task<Result<HttpResponse>> make_directory(ContentCall& call) {
  BJ_CO_TRY(const VolumeRights rights, rights_of(call.request));
  BJ_CO_TRY(const bool force, query_flag(call.request, "force"));
  BJ_CO_CHECK(co_await call.routes.audit.admit());
  const Parents parents = force ? Parents::kMake : Parents::kMustExist;
  const Result<FileInfo> made = from_inside(co_await call.files.make_directory(call.path, rights, parents));
  receipt(call, "volume.make_directory", made.has_value());
  if (!made) co_return tl::unexpected(made.error());
  co_return json_response(201, entry_json(*made));
}

Task<Result<HttpResponse>> read_file(ContentCall& call) {
  BJ_CO_TRY(auto opened, from_inside(co_await call.files.open_to_read(call.path)));
  const std::shared_ptr<SandboxFiles>& files = call.files.files();
  co_return file_response(call.request, {files, files.get()}, std::move(opened));
}

Task<Result<HttpResponse>> write_file(ContentCall& call) {
  BJ_CO_TRY(const VolumeRights rights, rights_of(call.request));
  BJ_CO_TRY(const bool force, query_flag(call.request, "force"));
  BJ_CO_CHECK(co_await call.routes.audit.admit());
  const Writing writing = force ? Writing::kReplace : Writing::kNew;
  BJ_CO_TRY(const auto opened, from_inside(co_await call.files.open_to_write(call.path, rights, writing)));
  auto received = co_await receive_file(call.request, *call.files.files(), opened);
  receipt(call, "volume.write_file", received.has_value());
  if (!received) co_return std::move(received.error());
  BJ_CO_TRY(const FileInfo info, from_inside(co_await call.files.stat(call.path)));
  co_return json_response(201, entry_json(info));
}

using ContentHandler = Task<Result<HttpResponse>> (*)(ContentCall&);

std::string_view bearer_of(const HttpRequest& request) {
  constexpr std::string_view kBearer = "bearer ";
  std::string_view given = request.headers.get("Authorization");
  if (given.size() < kBearer.size() || !equal_ignoring_case(given.substr(0, kBearer.size()), kBearer)) return {};
  given.remove_prefix(kBearer.size());
  return given;
}

// The token comes first: without it, nothing tells whether there is such a volume.
Task<Result<HttpResponse>> answer(const VolumeRoutes& routes, HttpRequest& request, TokenRights rights,
                                  ContentHandler handler) {
  const std::string& volume = request.parameter("volumeID");
  const std::optional<std::string> owner = routes.tokens.volume_owner(bearer_of(request), volume, rights);
  if (!owner) co_return error_response(401, "this is no token of the volume for that");
  const MaybeText path = query_text(request, "path");
  if (!path) co_return fail(Code::kInvalid, "path is missing");
  BJ_CO_TRY(std::shared_ptr<SandboxFiles> held, co_await routes.volumes.files(*owner, volume));
  VolumeFiles files(std::move(held));
  ContentCall call{routes, request, files, *owner, volume, *path};
  co_return co_await handler(call);
}

ParameterDoc parameter(const char* name) {
  ParameterDoc doc;
  doc.name = name;
  return doc;
}

struct ContentRoute {
  Method method;
  const char* part;
  ContentHandler handler;
  const char* summary;
  std::vector<const char*> parameters = {};
};

void add(Router& router, const VolumeRoutes& routes, const ContentRoute& route) {
  const TokenRights rights = route.method == Method::kGet ? TokenRights::kRead : TokenRights::kWrite;
  RouteOptions options;
  options.access = Access::kPublic;  // the volume's token is the proof
  options.errors = ErrorForm::kCodeAndMessage;
  options.doc.tag = "e2b";
  options.doc.summary = route.summary;
  options.doc.parameters.push_back(parameter("path"));
  for (const char* name : route.parameters) options.doc.parameters.push_back(parameter(name));
  if (route.method == Method::kPut) {
    options.body = BodyKind::kStreamed;
    options.body_limit = kLargestUpload;
  }
  router.add(route.method, std::string("/volumecontent/{volumeID}/") + route.part,
             answering([&routes, rights, handler = route.handler](HttpRequest& request) {
               return answer(routes, request, rights, handler);
             }),
             std::move(options));
}

}  // namespace

void add_volume_content_routes(Router& router, const VolumeRoutes& routes) {
  add(router, routes, {Method::kGet, "path", stat, "What lies at a path; a link is not followed"});
  add(router, routes, {Method::kPatch, "path", change, "Whose it is and who may use it"});
  add(router, routes, {Method::kDelete, "path", remove, "Remove a file, or a directory with what is in it"});
  add(router, routes, {Method::kGet, "dir", list, "What lies in a directory", {"depth"}});
  add(router, routes,
      {Method::kPost,
       "dir",
       make_directory,
       "Make a directory; ?force=true those above it, too",
       {"uid", "gid", "mode", "force"}});
  add(router, routes, {Method::kGet, "file", read_file, "A file's contents; Range gives a part"});
  add(router, routes,
      {Method::kPut,
       "file",
       write_file,
       "Write a new file; ?force=true replaces one and makes directories above it",
       {"uid", "gid", "mode", "force"}});
}

}  // namespace bj::e2b
