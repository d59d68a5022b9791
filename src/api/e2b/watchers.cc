#include "api/e2b/watchers.h"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/json/array.hpp>

#include "api/client_watch.h"
#include "base/compact_id.h"
#include "base/utf8.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

constexpr size_t kMostKeptEvents = 10'000;

const char* type_name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kCreate: return "EVENT_TYPE_CREATE";
    case ChangeKind::kWrite: return "EVENT_TYPE_WRITE";
    case ChangeKind::kRemove: return "EVENT_TYPE_REMOVE";
    case ChangeKind::kRename: return "EVENT_TYPE_RENAME";
    case ChangeKind::kChmod: return "EVENT_TYPE_CHMOD";
    case ChangeKind::kLost: break;
  }
  return nullptr;
}

// What is being watched, for the calls' whole life.
struct Watched {
  std::shared_ptr<HeldSandbox> sandbox;
  std::string path;
  bool with_entries = false;
};

// Only of what is there: something that was made, written or changed.
Task<json::object> event_of(const Watched& watched, const FileChange& change) {
  json::object event{{"name", valid_utf8(change.name)}, {"type", type_name(change.kind)}};
  const bool there =
      change.kind == ChangeKind::kCreate || change.kind == ChangeKind::kWrite || change.kind == ChangeKind::kChmod;
  if (!watched.with_entries || !there) co_return event;
  SandboxFiles& files = watched.sandbox->live->files();
  OwnerNames names(files);
  const std::string path = change.name.empty() ? watched.path : watched.path + "/" + change.name;
  const Result<FileDetails> details = co_await details_of(files, names, path, files.strongest_user(), kNotePrefix);
  if (details) event["entry"] = entry_json(*details);
  co_return event;
}

struct Begun {
  Watched watched;
  std::shared_ptr<TreeWatch> changes;
};

Task<RpcResult<Begun>> begin(const EnvdCall& call) {
  const RpcResult<std::string> path = path_in(call, text_in(call.message, "path"));
  if (!path) co_return tl::unexpected(path.error());
  const std::string rights = call.files().strongest_user();
  const Result<Fd> there = co_await call.files().locate(*path, rights, LastLink::kFollow);
  if (!there && there.error().code == Code::kNotFound)
    co_return rpc_fail(RpcCode::kNotFound, "path " + *path + " not found");
  if (!there) co_return tl::unexpected(rpc_error_of(there.error()));
  struct stat status{};
  if (::fstat(there->get(), &status) != 0 || !S_ISDIR(status.st_mode))
    co_return rpc_fail(RpcCode::kInvalidArgument, "path " + *path + " is not a directory");
  const WatchReach reach = flag_in(call.message, "recursive") ? WatchReach::kTree : WatchReach::kOne;
  Result<std::shared_ptr<TreeWatch>> changes = co_await call.files().watch(*path, rights, reach);
  if (!changes) co_return tl::unexpected(rpc_error_of(changes.error()));
  co_return Begun{{call.sandbox, *path == "/" ? "" : *path, flag_in(call.message, "includeEntry")}, *changes};
}

// Ends a watch at the call's deadline, or when the sandbox does: the kernel would not tell.
class WatchEnd {
 public:
  WatchEnd(const asio::any_io_executor& executor, std::optional<std::chrono::milliseconds> time,
           const std::shared_ptr<HeldSandbox>& sandbox, const std::shared_ptr<TreeWatch>& changes)
      : timer_(executor),
        state_(std::make_shared<State>(executor, changes)),
        at_end_(executor, sandbox, [state = state_] {
          state->gone = true;
          state->stop();
        }) {
    if (time) {
      timer_.expires_after(*time);
      timer_.async_wait([state = state_](const boost::system::error_code& error) {
        if (error || state->over) return;
        state->late = true;
        state->stop();
      });
    }
  }
  ~WatchEnd() { state_->over = true; }
  WatchEnd(const WatchEnd&) = delete;
  WatchEnd& operator=(const WatchEnd&) = delete;
  bool late() const { return state_->late; }
  bool gone() const { return state_->gone; }
  // The client has left.
  std::function<void()> leave() {
    return [state = state_] { state->stop(); };
  }
  // A directory that is removed has no changes any more, and the watch of it goes on.
  Task<void> reached() {
    const std::shared_ptr<State> state = state_;
    if (!state->stopped) (void)co_await expired(state->until);
  }

 private:
  struct State {
    State(const asio::any_io_executor& executor, std::shared_ptr<TreeWatch> watched)
        : changes(std::move(watched)), until(executor, Clock::time_point::max()) {}
    void stop() {
      stopped = true;
      changes->cancel();
      until.cancel();
    }
    std::shared_ptr<TreeWatch> changes;
    asio::steady_timer until;
    bool late = false, gone = false, over = false, stopped = false;
  };
  asio::steady_timer timer_;
  std::shared_ptr<State> state_;
  AtEnd at_end_;
};

Task<void> keep_events(Watched watched, std::shared_ptr<KeptWatch> kept) {
  while (!kept->over) {
    const std::optional<std::vector<FileChange>> changes = co_await kept->changes->next();
    if (!changes) break;
    for (const FileChange& change : *changes) {
      if (type_name(change.kind) == nullptr) continue;
      kept->events.push_back(co_await event_of(watched, change));
      if (kept->events.size() > kMostKeptEvents) kept->events.pop_front();
    }
  }
  kept->over = true;
}

}  // namespace

struct AtEnd::State {
  asio::cancellation_signal cancel;
  bool cancelled = false;
};

AtEnd::AtEnd(const asio::any_io_executor& executor, std::shared_ptr<HeldSandbox> sandbox, std::function<void()> then)
    : state_(std::make_shared<State>()) {
  auto wait = [sandbox = std::move(sandbox)]() -> Task<void> { co_await sandbox->live->ended(); };
  auto done = [state = state_, then = std::move(then)](const std::exception_ptr&) {
    if (!state->cancelled) then();
  };
  asio::co_spawn(executor, std::move(wait), asio::bind_cancellation_slot(state_->cancel.slot(), std::move(done)));
}

AtEnd::~AtEnd() {
  state_->cancelled = true;
  state_->cancel.emit(asio::cancellation_type::terminal);
}

std::optional<std::string> KeptWatches::add(const std::string& sandbox, std::shared_ptr<KeptWatch> watch) {
  std::erase_if(watches_, [](const auto& one) {
    return std::ranges::all_of(one.second, [](const auto& known) { return known.second->gone; });
  });
  auto& of_sandbox = watches_[sandbox];
  std::erase_if(of_sandbox, [](const auto& known) { return known.second->over; });
  if (of_sandbox.size() >= kMostOfASandbox) return std::nullopt;
  std::string id = new_compact_id("w");
  of_sandbox[id] = std::move(watch);
  return id;
}

std::shared_ptr<KeptWatch> KeptWatches::find(const std::string& sandbox, const std::string& id) const {
  const auto of_sandbox = watches_.find(sandbox);
  if (of_sandbox == watches_.end()) return nullptr;
  const auto found = of_sandbox->second.find(id);
  return found == of_sandbox->second.end() ? nullptr : found->second;
}

bool KeptWatches::remove(const std::string& sandbox, const std::string& id) {
  const std::shared_ptr<KeptWatch> watch = find(sandbox, id);
  if (!watch) return false;
  watch->over = true;
  watch->changes->cancel();
  auto& of_sandbox = watches_[sandbox];
  of_sandbox.erase(id);
  if (of_sandbox.empty()) watches_.erase(sandbox);
  return true;
}

Task<std::optional<RpcError>> watch_dir(const EnvdCall& call, RpcStream& stream) {
  RpcResult<Begun> begun = co_await begin(call);
  if (!begun) co_return begun.error();
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const std::shared_ptr<TreeWatch> changes = begun->changes;
  WatchEnd end(executor, rpc_timeout(call.request), call.sandbox, changes);
  const ClientWatch watch(executor, [&stream] { return stream.gone(); }, end.leave());
  bool there = co_await stream.send({{"start", json::object()}});
  while (there) {
    const std::optional<std::vector<FileChange>> next = co_await changes->next();
    if (!next) break;
    for (const FileChange& change : *next) {
      if (type_name(change.kind) == nullptr) continue;
      there = there && co_await stream.send({{"filesystem", co_await event_of(begun->watched, change)}});
    }
  }
  if (there) co_await end.reached();
  if (end.late()) co_return RpcError{RpcCode::kDeadlineExceeded, "context deadline exceeded"};
  if (end.gone()) stream.abandon();
  co_return std::nullopt;
}

Task<RpcResult<json::object>> create_watcher(const EnvdCall& call) {
  RpcResult<Begun> begun = co_await begin(call);
  if (!begun) co_return tl::unexpected(begun.error());
  const auto kept = std::make_shared<KeptWatch>();
  kept->changes = begun->changes;
  const std::optional<std::string> id = call.services.watches.add(call.sandbox->row.id, kept);
  if (!id) co_return rpc_fail(RpcCode::kResourceExhausted, "the sandbox has too many watchers: remove one");
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  spawn(executor, [watched = begun->watched, kept] { return keep_events(watched, kept); });
  kept->at_end.emplace(executor, call.sandbox, [weak = std::weak_ptr(kept)] {
    const std::shared_ptr<KeptWatch> watch = weak.lock();
    if (!watch) return;
    watch->over = watch->gone = true;
    watch->changes->cancel();
  });
  co_return json::object{{"watcherId", *id}};
}

Task<RpcResult<json::object>> watcher_events(const EnvdCall& call) {
  const std::string id = text_in(call.message, "watcherId");
  const std::shared_ptr<KeptWatch> kept = call.services.watches.find(call.sandbox->row.id, id);
  if (!kept) co_return rpc_fail(RpcCode::kNotFound, "watcher with id " + id + " not found");
  json::array events;
  for (json::object& event : kept->events) events.push_back(std::move(event));
  kept->events.clear();
  co_return json::object{{"events", std::move(events)}};
}

Task<RpcResult<json::object>> remove_watcher(const EnvdCall& call) {
  const std::string id = text_in(call.message, "watcherId");
  if (!call.services.watches.remove(call.sandbox->row.id, id))
    co_return rpc_fail(RpcCode::kNotFound, "watcher with id " + id + " not found");
  co_return json::object();
}

}  // namespace bj::e2b
