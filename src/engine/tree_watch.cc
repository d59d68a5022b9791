#include "engine/tree_watch.h"

#include <sys/inotify.h>
#include <sys/stat.h>

#include <array>

#include "sys/bytes.h"
#include "sys/directory.h"

namespace bj {
namespace {

constexpr size_t kMostEntries = 10'000;  // of a new directory that are looked at
constexpr size_t kMostTold = 100'000;
constexpr size_t kLongestName = 4000;

std::string joined(const std::string& directory, const std::string& name) {
  if (directory.empty() || name.empty()) return directory + name;
  return directory + "/" + name;
}

std::optional<ChangeKind> kind_of(uint32_t mask) {
  if ((mask & (IN_CREATE | IN_MOVED_TO)) != 0) return ChangeKind::kCreate;
  if ((mask & IN_MODIFY) != 0) return ChangeKind::kWrite;
  if ((mask & (IN_DELETE | IN_DELETE_SELF)) != 0) return ChangeKind::kRemove;
  if ((mask & (IN_MOVED_FROM | IN_MOVE_SELF)) != 0) return ChangeKind::kRename;
  if ((mask & IN_ATTRIB) != 0) return ChangeKind::kChmod;
  return std::nullopt;
}

}  // namespace

const uint32_t TreeWatch::kMask =
    IN_CREATE | IN_MODIFY | IN_DELETE | IN_DELETE_SELF | IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF | IN_ATTRIB;

const char* change_name(ChangeKind kind) {
  static constexpr std::array<const char*, 6> kNames = {"create", "write", "remove", "rename", "chmod", "lost"};
  return kNames[static_cast<size_t>(kind)];
}

TreeWatch::TreeWatch(const asio::any_io_executor& executor, asio::thread_pool& workers, Fd inotify, OpenDirectory open,
                     WatchReach reach, size_t most_directories)
    : workers_(workers),
      inotify_(executor, inotify.release()),
      open_(std::move(open)),
      reach_(reach),
      most_(most_directories) {
  boost::system::error_code ignored;
  inotify_.native_non_blocking(true, ignored);
}

void TreeWatch::cancel() {
  over_ = true;
  inotify_.cancel();
}

Task<Result<void>> TreeWatch::begin() {
  if (reach_ == WatchReach::kOne) co_return Result<void>();
  BJ_CO_TRY(const Fd top, co_await open_(""));
  BJ_CO_TRY(const int watch, add_watch(inotify_.native_handle(), top.get(), kMask));
  names_[watch] = "";
  std::vector<FileChange> none;
  co_return co_await add_tree("", false, none);
}

tl::unexpected<Error> TreeWatch::too_many() const {
  return fail(Code::kUnprocessable, "more than " + std::to_string(most_) + " directories can't be watched");
}

// The watch comes before the look: what is made in between is seen twice rather than never.
Task<Result<void>> TreeWatch::add_one(const std::string& relative, bool is_new, std::vector<std::string>& below,
                                      std::vector<FileChange>& changes) {
  Result<Fd> opened = co_await open_(relative);
  if (!opened) co_return Result<void>();
  const auto directory = std::make_shared<Fd>(std::move(*opened));
  if (names_.size() >= most_) co_return too_many();
  BJ_CO_TRY(const int watch, add_watch(inotify_.native_handle(), directory->get(), kMask));
  names_[watch] = relative;
  const auto look = [directory] { return read_directory(directory->get(), kMostEntries); };
  const Result<DirectoryPage> page = co_await offload(workers_, look);
  if (!page) co_return Result<void>();
  for (const DirectoryEntry& entry : page->entries) {
    const std::string name = joined(relative, entry.name);
    if (name.size() > kLongestName) continue;
    if (S_ISDIR(entry.status.st_mode)) below.push_back(name);
    if (!is_new || told_.size() >= kMostTold) continue;
    told_.insert(name);
    changes.push_back({ChangeKind::kCreate, name});
    if (S_ISREG(entry.status.st_mode) && entry.status.st_size > 0) changes.push_back({ChangeKind::kWrite, name});
  }
  co_return Result<void>();
}

Task<Result<void>> TreeWatch::add_tree(std::string top, bool is_new, std::vector<FileChange>& changes) {
  std::vector<std::string> waiting = {std::move(top)};
  while (!waiting.empty() && !over_) {
    const std::string next = std::move(waiting.back());
    waiting.pop_back();
    BJ_CO_CHECK(co_await add_one(next, is_new, waiting, changes));
    if (waiting.size() > most_) co_return too_many();
  }
  co_return Result<void>();
}

void TreeWatch::forget_tree(const std::string& top) {
  for (auto at = names_.begin(); at != names_.end();) {
    if (at->second != top && !at->second.starts_with(top + "/")) {
      ++at;
      continue;
    }
    remove_watch(inotify_.native_handle(), at->first);
    at = names_.erase(at);
  }
}

Task<void> TreeWatch::take(const InotifyEvent& event, std::vector<FileChange>& changes) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    changes.push_back({ChangeKind::kLost, ""});
    co_return;
  }
  const auto found = names_.find(event.watch);
  if (reach_ == WatchReach::kTree && found == names_.end()) co_return;  // of one that was moved away
  const std::string directory = reach_ == WatchReach::kTree ? found->second : "";
  const bool is_top = directory.empty();
  if ((event.mask & (IN_IGNORED | IN_UNMOUNT)) != 0) {
    if (is_top) over_ = true;
    if (reach_ == WatchReach::kTree) names_.erase(event.watch);
    co_return;
  }
  if (event.name.empty() && !is_top) co_return;  // its parent tells the same, with its name
  const std::string name = joined(directory, event.name);
  const std::optional<ChangeKind> kind = kind_of(event.mask);
  if (!kind) co_return;
  if (*kind == ChangeKind::kRemove || *kind == ChangeKind::kRename) told_.erase(name);
  const bool told = *kind == ChangeKind::kCreate && told_.contains(name);
  if (!told) changes.push_back({*kind, name});
  if (reach_ == WatchReach::kOne || (event.mask & IN_ISDIR) == 0 || told) co_return;
  if (*kind == ChangeKind::kRename) forget_tree(name);
  if (*kind != ChangeKind::kCreate) co_return;
  const Result<void> added = co_await add_tree(name, true, changes);  // one that moved here is new here, too
  if (!added) changes.push_back({ChangeKind::kLost, name});
}

Task<std::optional<std::vector<FileChange>>> TreeWatch::next() {
  std::vector<FileChange> changes;
  while (!over_ && changes.empty() && co_await readable(inotify_)) {
    char bytes[16 * 1024];
    Moved read;
    while (!over_ && (read = read_some(inotify_.native_handle(), bytes, sizeof bytes)).size > 0) {
      for (const InotifyEvent& event : inotify_events(std::string_view(bytes, read.size)))
        co_await take(event, changes);
      if (changes.size() > kMostEntries) co_return changes;
    }
    if (!read.not_now()) over_ = true;
    told_.clear();  // the queue was empty: what comes now happened later
  }
  if (changes.empty()) co_return std::nullopt;
  co_return changes;
}

}  // namespace bj
