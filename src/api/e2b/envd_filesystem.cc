// filesystem.Filesystem: looked at, listed, made, moved, removed. The work is done with the sandbox's strongest rights,
// and what is made belongs to the caller's user: so it is in E2B.
#include <sys/stat.h>

#include <boost/json/array.hpp>
#include <map>

#include "api/e2b/envd.h"
#include "api/e2b/watchers.h"
#include "control/sandbox_steps.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

constexpr int64_t kDeepest = 64;

// Without "." and "..", as text: where a link on the way leads is another matter.
std::string cleaned(const std::string& path) {
  std::vector<std::string> parts;
  size_t at = 0;
  while (at < path.size()) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  std::string clean;
  for (const std::string& part : parts) clean += "/" + part;
  return clean.empty() ? "/" : clean;
}

Task<RpcResult<json::object>> entry_at(const EnvdCall& call, std::string path) {
  OwnerNames names(call.files());
  const Result<FileDetails> details =
      co_await details_of(call.files(), names, std::move(path), call.files().strongest_user(), kNotePrefix);
  if (!details) co_return tl::unexpected(rpc_error_of(details.error()));
  co_return json::object{{"entry", entry_json(*details)}};
}

void receipt(const EnvdCall& call, const char* action, const std::string& path) {
  Event event;
  event.kind = EventKind::kFileWrite;
  event.action = action;
  event.actor = owner_of(call.sandbox->row);
  event.subject = call.sandbox->row.id;
  event.outcome = "success";
  event.detail = {{"path", short_name(path)}};
  call.services.audit.add(event);
}

Task<RpcResult<json::object>> stat(const EnvdCall& call) {
  RpcResult<std::string> path = path_in(call, text_in(call.message, "path"));
  if (!path) co_return tl::unexpected(path.error());
  co_return co_await entry_at(call, std::move(*path));
}

// What a path leads to; links are followed.
Task<Result<FileKind>> kind_at(const EnvdCall& call, std::string path) {
  BJ_CO_TRY(const Fd fd,
            co_await call.files().locate(std::move(path), call.files().strongest_user(), LastLink::kFollow));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) co_return fail_errno("fstat");
  co_return call.files().info_from_status(status).kind;
}

Task<RpcResult<json::object>> list_dir(const EnvdCall& call) {
  const RpcResult<std::string> path = path_in(call, text_in(call.message, "path"));
  if (!path) co_return tl::unexpected(path.error());
  const Result<FileKind> kind = co_await kind_at(call, *path);
  if (!kind && kind.error().sys == ELOOP)
    co_return rpc_fail(RpcCode::kFailedPrecondition, "cyclic symlink or chain too long: " + *path);
  if (!kind && kind.error().code == Code::kNotFound)
    co_return rpc_fail(RpcCode::kNotFound, "directory not found: " + *path);
  if (!kind) co_return tl::unexpected(rpc_error_of(kind.error()));
  if (*kind != FileKind::kDirectory) co_return rpc_fail(RpcCode::kInvalidArgument, "path is not a directory: " + *path);
  const int64_t depth = std::clamp<int64_t>(number_in(call.message, "depth").value_or(1), 1, kDeepest);
  const std::string rights = call.files().strongest_user();
  const Result<FileListing> listing = co_await call.files().list(*path, rights, static_cast<int>(depth));
  if (!listing) co_return tl::unexpected(rpc_error_of(listing.error()));
  // An answer has no word for what is left out.
  if (listing->cut)
    co_return rpc_fail(RpcCode::kFailedPrecondition,
                       "more than " + std::to_string(listing->entries.size()) + " entries are there: list parts of it");
  OwnerNames names(call.files());
  json::array entries;
  for (const FileInfo& entry : listing->entries) {
    const Result<FileDetails> details = co_await details_of(call.files(), names, entry, rights, kNotePrefix);
    if (details) entries.push_back(entry_json(*details));  // else it went away meanwhile
  }
  co_return json::object{{"entries", std::move(entries)}};
}

Task<RpcResult<json::object>> make_dir(const EnvdCall& call) {
  const RpcResult<std::string> path = path_in(call, text_in(call.message, "path"));
  if (!path) co_return tl::unexpected(path.error());
  if (const Result<void> admitted = co_await call.services.audit.admit(); !admitted)
    co_return tl::unexpected(rpc_error_of(admitted.error()));
  const Result<FileKind> there = co_await kind_at(call, *path);
  if (there && *there == FileKind::kDirectory)
    co_return rpc_fail(RpcCode::kAlreadyExists, "directory already exists: " + *path);
  if (there || there.error().sys == ENOTDIR)
    co_return rpc_fail(RpcCode::kInvalidArgument, "path already exists but it is not a directory: " + *path);
  const Result<void> made =
      co_await call.files().make_directory(*path, call.files().strongest_user(), Parents::kMake, owner_in(call));
  if (!made) co_return tl::unexpected(rpc_error_of(made.error()));
  receipt(call, "sandbox.make_directory", *path);
  co_return co_await entry_at(call, *path);
}

Task<RpcResult<json::object>> move(const EnvdCall& call) {
  const RpcResult<std::string> from = path_in(call, text_in(call.message, "source"));
  const RpcResult<std::string> to = path_in(call, text_in(call.message, "destination"));
  if (!from) co_return tl::unexpected(from.error());
  if (!to) co_return tl::unexpected(to.error());
  if (const Result<void> admitted = co_await call.services.audit.admit(); !admitted)
    co_return tl::unexpected(rpc_error_of(admitted.error()));
  const std::string rights = call.files().strongest_user();
  const Result<FileInfo> there = co_await call.files().stat(*from, rights);
  if (!there && there.error().code == Code::kNotFound)
    co_return rpc_fail(RpcCode::kNotFound, "source file not found: " + *from);
  const Result<void> moved = co_await call.files().move(*from, *to, rights, Parents::kMake, owner_in(call));
  if (!moved) co_return tl::unexpected(rpc_error_of(moved.error()));
  receipt(call, "sandbox.move_file", *to);
  co_return co_await entry_at(call, *to);
}

Task<RpcResult<json::object>> remove(const EnvdCall& call) {
  const RpcResult<std::string> path = path_in(call, text_in(call.message, "path"));
  if (!path) co_return tl::unexpected(path.error());
  if (const Result<void> admitted = co_await call.services.audit.admit(); !admitted)
    co_return tl::unexpected(rpc_error_of(admitted.error()));
  const Result<void> removed = co_await call.files().remove(*path, call.files().strongest_user(), Removal::kTree);
  if (!removed && removed.error().code != Code::kNotFound) co_return tl::unexpected(rpc_error_of(removed.error()));
  receipt(call, "sandbox.remove_file", *path);
  co_return json::object();
}

}  // namespace

RpcResult<std::string> path_in(const EnvdCall& call, const std::string& path) {
  const Result<Account> account = call.files().account(call.user);
  if (!account) return rpc_fail(RpcCode::kUnauthenticated, "invalid username: '" + call.user + "'");
  const std::string start = call.sandbox->live->start_directory();
  if (path.find('\0') != std::string::npos) return rpc_fail(RpcCode::kInvalidArgument, "the path holds a NUL byte");
  if (path.empty()) return start.empty() ? account->home : start;
  if (path == "~" || path.starts_with("~/")) return cleaned(account->home + path.substr(1));
  if (path.starts_with("~")) return rpc_fail(RpcCode::kInvalidArgument, "cannot expand another user's home: " + path);
  return cleaned(path.starts_with("/") ? path : account->home + "/" + path);
}

std::string owner_in(const EnvdCall& call) {
  if (!call.user.empty()) return call.user;
  return call.sandbox->row.inside_user.empty() ? call.sandbox->live->usual_user() : call.sandbox->row.inside_user;
}

RpcError rpc_error_of(const Error& error) {
  switch (error.sys) {
    case ENOENT: return {RpcCode::kNotFound, error.what};
    case EEXIST: return {RpcCode::kAlreadyExists, error.what};
    case ENOTDIR:
    case EISDIR:
    case EINVAL:
    case ENAMETOOLONG: return {RpcCode::kInvalidArgument, error.what};
    case ELOOP: return {RpcCode::kFailedPrecondition, error.what};
    case EACCES:
    case EPERM: return {RpcCode::kPermissionDenied, error.what};
    case EAGAIN:  // of a process that can't be started: the sandbox has as many as it may
    case ENOSPC: return {RpcCode::kResourceExhausted, error.what};
    default: break;
  }
  switch (error.code) {
    case Code::kNotFound: return {RpcCode::kNotFound, error.what};
    case Code::kInvalid:
    case Code::kUnprocessable: return {RpcCode::kInvalidArgument, error.what};
    case Code::kDenied: return {RpcCode::kPermissionDenied, error.what};
    case Code::kConflict: return {RpcCode::kFailedPrecondition, error.what};
    case Code::kExhausted:
    case Code::kBusy: return {RpcCode::kResourceExhausted, error.what};
    case Code::kUnavailable: return {RpcCode::kUnavailable, error.what};
    default: return {RpcCode::kInternal, error.what};
  }
}

UnaryCall filesystem_call(std::string_view path) {
  static const std::map<std::string, UnaryCall, std::less<>> kCalls = {
      {"/filesystem.Filesystem/Stat", stat},
      {"/filesystem.Filesystem/ListDir", list_dir},
      {"/filesystem.Filesystem/MakeDir", make_dir},
      {"/filesystem.Filesystem/Move", move},
      {"/filesystem.Filesystem/Remove", remove},
      {"/filesystem.Filesystem/CreateWatcher", create_watcher},
      {"/filesystem.Filesystem/GetWatcherEvents", watcher_events},
      {"/filesystem.Filesystem/RemoveWatcher", remove_watcher}};
  const auto found = kCalls.find(path);
  return found == kCalls.end() ? nullptr : found->second;
}

StreamCall filesystem_stream(std::string_view path) {
  return path == "/filesystem.Filesystem/WatchDir" ? watch_dir : nullptr;
}

}  // namespace bj::e2b
