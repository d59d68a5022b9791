// /v1/volumes/{volume_id}/files: what lies in a volume, looked at and changed through a sandbox that has nothing else.
#include <boost/json/array.hpp>

#include "api/file_transfer.h"
#include "api/native/file_request.h"
#include "api/native/sandbox_json.h"
#include "api/native/volumes.h"
#include "api/route_group.h"

namespace bj::native {
namespace {

namespace json = boost::json;

// A request's files and where in them: paths begin at the volume's top and stay below it.
struct Inside {
  std::shared_ptr<SandboxFiles> files;
  std::string id, path, user;
};

Task<Result<Inside>> inside_of(VolumeServices services, const HttpRequest& request) {
  BJ_CO_TRY(const FileTarget target, file_target(request));
  if (("/" + target.path + "/").find("/../") != std::string::npos)
    co_return fail(Code::kUnprocessable, "a path in a volume does not have ..");
  Inside inside;
  BJ_CO_TRY(inside.id, volume_id_of(request));
  BJ_CO_TRY(inside.files, co_await services.volumes.files(request.actor.organization, inside.id));
  inside.path = std::string(VolumeManager::kTop) + (target.path.starts_with("/") ? "" : "/") + target.path;
  inside.user = target.user;
  co_return inside;
}

json::object entry_json(FileInfo info) {
  const size_t top = std::string_view(VolumeManager::kTop).size();
  info.path = info.path.size() > top ? info.path.substr(top) : "/";
  return file_json(info);
}

void receipt(const VolumeServices& services, const HttpRequest& request, const Inside& inside, const char* action,
             bool done) {
  Event event;
  event.kind = EventKind::kFileWrite;
  event.action = action;
  event.actor = request.actor;
  event.subject = inside.id;
  event.outcome = done ? "success" : "error";
  event.detail = {{"path", short_name(inside.path.substr(std::string_view(VolumeManager::kTop).size()))}};
  services.audit.add(event);
}

Task<Result<HttpResponse>> stat(VolumeServices services, HttpRequest& request) {
  BJ_CO_TRY(const Inside inside, co_await inside_of(services, request));
  BJ_CO_TRY(FileInfo info, from_inside(co_await inside.files->stat(inside.path, inside.user)));
  co_return json_response(200, entry_json(std::move(info)));
}

Task<Result<HttpResponse>> list(VolumeServices services, HttpRequest& request) {
  BJ_CO_TRY(const Inside inside, co_await inside_of(services, request));
  BJ_CO_TRY(FileListing listing, from_inside(co_await inside.files->list(inside.path, inside.user, 1)));
  json::array entries;
  for (FileInfo& entry : listing.entries) entries.push_back(entry_json(std::move(entry)));
  co_return json_response(200, json::object{{"entries", std::move(entries)}, {"cut", listing.cut}});
}

Task<Result<HttpResponse>> make_directory(VolumeServices services, HttpRequest& request) {
  BJ_CO_TRY(const Inside inside, co_await inside_of(services, request));
  BJ_CO_CHECK(co_await services.audit.admit());
  BJ_CO_CHECK(from_inside(co_await inside.files->make_directory(inside.path, inside.user, Parents::kMake)));
  receipt(services, request, inside, "volume.make_directory", true);
  BJ_CO_TRY(FileInfo info, from_inside(co_await inside.files->stat(inside.path, inside.user)));
  co_return json_response(200, entry_json(std::move(info)));
}

Task<Result<HttpResponse>> remove(VolumeServices services, HttpRequest& request) {
  BJ_CO_TRY(const Inside inside, co_await inside_of(services, request));
  BJ_CO_TRY(const bool recursive, query_flag(request, "recursive"));
  BJ_CO_CHECK(co_await services.audit.admit());
  const Removal removal = recursive ? Removal::kTree : Removal::kFileOrEmpty;
  BJ_CO_CHECK(from_inside(co_await inside.files->remove(inside.path, inside.user, removal)));
  receipt(services, request, inside, "volume.remove_file", true);
  co_return empty_response();
}

Task<Result<HttpResponse>> read_file(VolumeServices services, HttpRequest& request) {
  BJ_CO_TRY(const Inside inside, co_await inside_of(services, request));
  BJ_CO_TRY(auto opened, from_inside(co_await inside.files->open_to_read(inside.path, inside.user)));
  co_return file_response(request, {inside.files, inside.files.get()}, std::move(opened));
}

Task<Result<HttpResponse>> write_file(VolumeServices services, HttpRequest& request) {
  BJ_CO_TRY(const Inside inside, co_await inside_of(services, request));
  BJ_CO_TRY(const unsigned mode, file_mode(request));
  BJ_CO_TRY(const bool append, query_flag(request, "append"));
  BJ_CO_CHECK(co_await services.audit.admit());
  const Writing writing = append ? Writing::kAppend : Writing::kReplace;
  BJ_CO_TRY(const auto opened,
            from_inside(co_await inside.files->open_to_write(inside.path, inside.user, mode, writing, Parents::kMake)));
  auto received = co_await receive_file(request, *inside.files, opened);
  receipt(services, request, inside, append ? "volume.append_file" : "volume.write_file", received.has_value());
  if (!received) co_return std::move(received.error());
  BJ_CO_TRY(FileInfo info, from_inside(co_await inside.files->stat(inside.path, inside.user)));
  co_return json_response(200, entry_json(std::move(info)));
}

}  // namespace

void add_volume_file_routes(Router& router, VolumeServices services) {
  const std::string path = "/v1/volumes/{volume_id}/files";
  RouteGroup<VolumeServices> group(router, path, "volume files", services);
  const json::value object = json::object{{"type", "object"}};
  group.add(Method::kGet, "/stat", stat, "What lies at a path; a link is not followed", nullptr, object,
            file_extras({}));
  group.add(Method::kGet, "/list", list, "What lies in a directory", nullptr, object, file_extras({}));
  group.add(Method::kPost, "/directory", make_directory, "Make a directory and those above it", nullptr, object,
            file_extras({}));
  group.add(Method::kDelete, "", remove, "Remove a file or directory; ?recursive=true with what is in it", nullptr,
            nullptr, file_extras({"recursive"}));
  router.add(Method::kGet, path, answering([services](HttpRequest& request) { return read_file(services, request); }),
             reading_route("volume files"));
  router.add(Method::kPut, path, answering([services](HttpRequest& request) { return write_file(services, request); }),
             writing_route("volume files"));
}

}  // namespace bj::native
