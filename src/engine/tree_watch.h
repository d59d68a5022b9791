// What changes in a directory of a sandbox, and, if asked, in all directories below it. The kernel watches directories
// one by one, so a directory that appears is watched from then on, and what was put into it before is told as if it
// had been seen. Names are relative to the watched directory. The tree is hostile: directories are opened through the
// warden, watched by descriptor, and their number is bounded.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async.h"
#include "sys/inotify.h"

namespace bj {

enum class WatchReach { kOne, kTree };

enum class ChangeKind { kCreate, kWrite, kRemove, kRename, kChmod, kLost };
const char* change_name(ChangeKind kind);

struct FileChange {
  ChangeKind kind = ChangeKind::kLost;
  std::string name;  // relative to what is watched; empty: that itself, or, of kLost, anything
  bool operator==(const FileChange&) const = default;
};

// Stays on its thread.
class TreeWatch {
 public:
  // A directory at or below the watched one ("" or "a/b"), whose last component is not followed if it is a link.
  using OpenDirectory = std::function<Task<Result<Fd>>(std::string relative)>;
  // The inotify events that it understands.
  static const uint32_t kMask;

  // `inotify` has the top in it already, with kMask.
  TreeWatch(const asio::any_io_executor& executor, asio::thread_pool& workers, Fd inotify, OpenDirectory open,
            WatchReach reach, size_t most_directories = 8192);

  // Everything that is there now is watched when it returns. Fails if there are too many directories.
  Task<Result<void>> begin();
  // The next changes, at least one; nothing: the directory is gone, or cancel() was called. When directories appear
  // that can't be watched any more (too many), or the kernel dropped events, kLost says so.
  Task<std::optional<std::vector<FileChange>>> next();
  void cancel();

 private:
  Task<void> take(const InotifyEvent& event, std::vector<FileChange>& changes);
  // Watches the directory and all below it; those that can't be opened are passed over.
  Task<Result<void>> add_tree(std::string top, bool is_new, std::vector<FileChange>& changes);
  Task<Result<void>> add_one(const std::string& relative, bool is_new, std::vector<std::string>& below,
                             std::vector<FileChange>& changes);
  void forget_tree(const std::string& top);
  tl::unexpected<Error> too_many() const;

  asio::thread_pool& workers_;
  asio::posix::stream_descriptor inotify_;
  OpenDirectory open_;
  WatchReach reach_;
  size_t most_;
  std::map<int, std::string> names_;  // of directories by watch, relative
  std::set<std::string> told_;        // new entries that were found, whose own events may still be in the queue
  bool over_ = false;
};

}  // namespace bj
