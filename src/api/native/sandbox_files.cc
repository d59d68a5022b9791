// /v1/sandboxes/{sandbox_id}/files/...: what lies in a sandbox: looked at, made, moved, removed, searched, watched.
#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "api/native/file_request.h"
#include "api/native/output_events.h"
#include "api/native/sandbox_json.h"
#include "api/native/sandbox_routes.h"
#include "api/route_group.h"
#include "base/utf8.h"

namespace bj::native {
namespace {

namespace json = boost::json;

constexpr int64_t kDeepest = 64;
constexpr int64_t kMostMatches = 1000;

Result<int64_t> number_of(const HttpRequest& request, std::string_view name, int64_t usual, int64_t most) {
  const MaybeText text = query_text(request, name);
  if (!text) return usual;
  const bool digits = text->size() < 10 && text->find_first_not_of("0123456789") == std::string::npos;
  if (!digits || std::stoll(*text) < 1 || std::stoll(*text) > most)
    return fail(Code::kUnprocessable, fmt::format("\"{}\" must be a whole number from 1 to {}", name, most));
  return std::stoll(*text);
}

void receipt(const SandboxServices& services, const HttpRequest& request, const HeldSandbox& sandbox,
             const std::string& action, const std::string& path) {
  Event event;
  event.kind = EventKind::kFileWrite;
  event.action = action;
  event.actor = request.actor;
  event.subject = sandbox.row.id;
  event.detail = {{"path", short_name(path)}};
  services.audit.add(event);
}

Task<Result<HttpResponse>> stat(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(const FileTarget target, file_target(request));
  BJ_CO_TRY(const FileInfo info, from_inside(co_await sandbox->live->files().stat(target.path, target.user)));
  co_return json_response(200, file_json(info));
}

Task<Result<HttpResponse>> list(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(const FileTarget target, file_target(request));
  BJ_CO_TRY(const int64_t depth, number_of(request, "depth", 1, kDeepest));
  BJ_CO_TRY(const FileListing listing, from_inside(co_await sandbox->live->files().list(
                                           plain_path(target.path), target.user, static_cast<int>(depth))));
  json::array entries;
  for (const FileInfo& entry : listing.entries) entries.push_back(file_json(entry));
  co_return json_response(200, json::object{{"entries", std::move(entries)}, {"cut", listing.cut}});
}

Task<Result<HttpResponse>> make_directory(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(const FileTarget target, file_target(request));
  BJ_CO_CHECK(co_await services.audit.admit());
  BJ_CO_CHECK(from_inside(co_await sandbox->live->files().make_directory(target.path, target.user, Parents::kMake)));
  receipt(services, request, *sandbox, "sandbox.make_directory", target.path);
  BJ_CO_TRY(const FileInfo info, from_inside(co_await sandbox->live->files().stat(target.path, target.user)));
  co_return json_response(200, file_json(info));
}

Task<Result<HttpResponse>> remove(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(const FileTarget target, file_target(request));
  BJ_CO_TRY(const bool recursive, query_flag(request, "recursive"));
  BJ_CO_CHECK(co_await services.audit.admit());
  const Removal removal = recursive ? Removal::kTree : Removal::kFileOrEmpty;
  BJ_CO_CHECK(from_inside(co_await sandbox->live->files().remove(target.path, target.user, removal)));
  receipt(services, request, *sandbox, "sandbox.remove_file", target.path);
  co_return empty_response();
}

struct MoveBody {
  std::string from, to, user;
};

MoveBody read_move(ModelReader& reader) {
  MoveBody body;
  body.from = reader.string("from", 1);
  body.to = reader.string("to", 1);
  body.user = reader.optional_string("user").value_or("");
  return body;
}

Task<Result<HttpResponse>> move(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(const MoveBody body, read_body(request, UnknownKeys::kForbid, read_move));
  BJ_CO_CHECK(co_await services.audit.admit());
  SandboxFiles& files = sandbox->live->files();
  BJ_CO_CHECK(from_inside(co_await files.stat(body.from, body.user)));  // nothing is made for what is not there
  BJ_CO_CHECK(from_inside(co_await files.move(body.from, body.to, body.user, Parents::kMake)));
  receipt(services, request, *sandbox, "sandbox.move_file", body.to);
  BJ_CO_TRY(const FileInfo info, from_inside(co_await files.stat(body.to, body.user)));
  co_return json_response(200, file_json(info));
}

Task<Result<HttpResponse>> search(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(const FileTarget target, file_target(request));
  FileSearch what;
  what.path = plain_path(target.path);
  what.name = query_text(request, "name").value_or("");
  what.text = query_text(request, "text").value_or("");
  BJ_CO_TRY(const int64_t limit, number_of(request, "limit", 100, kMostMatches));
  what.limit = static_cast<size_t>(limit);
  BJ_CO_TRY(const auto found, from_inside(co_await sandbox->live->files().search(std::move(what), target.user)));
  json::array matches;
  for (const FileMatch& match : found) {
    json::object one{{"path", valid_utf8(match.path)}};
    if (match.line != 0) one["line"] = match.line;
    if (match.line != 0) one["text"] = valid_utf8(match.text);
    matches.push_back(std::move(one));
  }
  co_return json_response(200, matches);
}

Task<void> send_changes(std::shared_ptr<TreeWatch> changes, EventStream& events) {
  const ClientWatch watch(
      co_await asio::this_coro::executor, [&events] { return events.gone(); }, [changes] { changes->cancel(); });
  bool there = co_await events.send("watching", "{}");
  while (there) {
    const std::optional<std::vector<FileChange>> some = co_await changes->next();
    if (!some) co_return;
    for (const FileChange& change : *some)
      there = there && co_await events.send(change_name(change.kind),
                                            json::serialize(json::object{{"name", valid_utf8(change.name)}}));
  }
}

Task<Result<HttpResponse>> watch(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(const FileTarget target, file_target(request));
  BJ_CO_TRY(const bool recursive, query_flag(request, "recursive"));
  const WatchReach reach = recursive ? WatchReach::kTree : WatchReach::kOne;
  BJ_CO_TRY(const auto changes, from_inside(co_await sandbox->live->files().watch(target.path, target.user, reach)));
  co_return event_stream([changes](EventStream& events) { return send_changes(changes, events); });
}

}  // namespace

void add_file_routes(Router& router, SandboxServices services) {
  RouteGroup<SandboxServices> group(router, "/v1/sandboxes/{sandbox_id}/files", "sandbox files", services);
  const json::value object = json::object{{"type", "object"}};
  const json::value text = json::object{{"type", "string"}};
  group.add(Method::kGet, "/stat", stat, "What lies at a path; a link is not followed", nullptr, object,
            file_extras({}));
  group.add(Method::kGet, "/list", list, "What lies in a directory", nullptr, object, file_extras({"depth"}));
  group.add(Method::kPost, "/directory", make_directory, "Make a directory and those above it", nullptr, object,
            file_extras({}));
  group.add(Method::kPost, "/move", move, "Move or rename; directories above the target are made",
            json::object{{"type", "object"},
                         {"required", {"from", "to"}},
                         {"properties", {{"from", text}, {"to", text}, {"user", text}}}},
            object);
  group.add(Method::kGet, "/search", search, "Files by a pattern of their name, or lines that hold a text", nullptr,
            json::object{{"type", "array"}, {"items", object}}, file_extras({"name", "text", "limit"}));
  group.add(Method::kGet, "/watch", watch, "Changes in a directory, as events; ?recursive=true in all below it, too",
            nullptr, object, file_extras({"recursive"}));
  group.add(Method::kDelete, "", remove, "Remove a file or directory; ?recursive=true with what is in it", nullptr,
            nullptr, file_extras({"recursive"}));
}

}  // namespace bj::native
