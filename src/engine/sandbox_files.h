// The files of a sandbox, seen from outside. Every path is resolved inside, by the warden, as a user of the sandbox;
// what comes out are descriptors, and only they are looked at here. A name that was read from a directory's descriptor
// is asked about relative to that descriptor and never followed.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "engine/sandbox.h"
#include "engine/tree_watch.h"

namespace bj {

enum class FileKind { kFile, kDirectory, kLink, kOther };
enum class Writing { kReplace, kAppend, kNew };  // kNew: a file that is there already is a failure (EEXIST)
enum class Removal { kFileOrEmpty, kTree };
enum class Parents { kMustExist, kMake };
enum class LastLink { kFollow, kKeep };  // of a path whose last part is a symlink

struct FileInfo {
  std::string path;  // as asked for, absolute
  std::string name;
  FileKind kind = FileKind::kOther;
  uint64_t size = 0;
  unsigned mode = 0;  // permission bits
  uid_t uid = 0;      // inside
  gid_t gid = 0;
  int64_t modified_us = 0;
  int64_t accessed_us = 0;
  int64_t changed_us = 0;   // of its data or of what is told here
  std::string link_target;  // of a link, its text
};

struct FileListing {
  std::vector<FileInfo> entries;  // depth first, names in order
  bool cut = false;               // there was more than may be listed
};

struct FileSearch {
  std::string path;
  std::string name;  // a pattern as of a shell; empty: any
  std::string text;  // that a line of the file must hold; empty: any file
  size_t limit = 100;
};
struct FileMatch {
  std::string path;
  uint64_t line = 0;  // 0: the name matched, no text was looked for
  std::string text;
};

// Stays on its thread; what blocks is done on the host's workers.
class SandboxFiles {
 public:
  SandboxFiles(Host& host, std::shared_ptr<Sandbox> sandbox) : host_(host), sandbox_(std::move(sandbox)) {}

  // Relative paths begin at the user's home, "~" is it. An empty user is the sandbox's own.
  Task<Result<FileInfo>> stat(std::string path, std::string user);
  Task<Result<FileListing>> list(std::string path, std::string user, int depth);
  // What is made belongs to `owner`; empty: to the user.
  Task<Result<void>> make_directory(std::string path, std::string user, Parents parents, std::string owner = {});
  Task<Result<void>> move(std::string from, std::string to, std::string user, Parents parents = Parents::kMustExist,
                          std::string owner = {});
  Task<Result<void>> remove(std::string path, std::string user, Removal removal);
  Task<Result<std::vector<FileMatch>>> search(FileSearch what, std::string user);
  // Changes of a directory or file, or of a directory and everything below it, from now on.
  Task<Result<std::shared_ptr<TreeWatch>>> watch(std::string path, std::string user, WatchReach reach);

  struct Opened {
    std::shared_ptr<Fd> file;
    FileInfo info;
  };
  // Regular files only. Pieces are read and written on the workers, so that nothing here waits for a disk.
  // kUnavailable: the sandbox has ended; an open file would outlive it.
  Task<Result<Opened>> open_to_read(std::string path, std::string user);
  Task<Result<Opened>> open_to_write(std::string path, std::string user, unsigned mode, Writing writing,
                                     Parents parents, std::string owner = {});
  Task<Result<std::string>> read(const Opened& opened, uint64_t offset, size_t most);
  Task<Result<void>> write(const Opened& opened, std::string bytes);

  // A descriptor that only names what lies there (O_PATH).
  Task<Result<Fd>> locate(std::string path, std::string user, LastLink link);
  // Whom the template, or the sandbox's own /etc/passwd, knows by that name; empty: the sandbox's own user.
  Task<Result<Account>> find_account(std::string user) { return sandbox_->find_account(std::move(user)); }
  // The same as it was found last.
  Result<Account> account(const std::string& user) const { return sandbox_->known_account(user); }
  // Who may do everything inside: root, or, rootless, the one user there is.
  std::string strongest_user() const { return host_.uids ? "root" : ""; }
  FileInfo info_from_status(const struct stat& status) const;
  // The object that the descriptor names gets another owner, by numbers inside; what is absent stays.
  Result<void> give(int fd, std::optional<uid_t> uid, std::optional<gid_t> gid) const;

 private:
  struct Place {
    std::string path;
    Account account;
  };
  Task<Result<Place>> place_of(std::string path, std::string user);
  Task<Result<Place>> directory_at(const std::string& path, const std::string& user);
  Task<Result<Fd>> open(const Place& place, int flags, FileType type);
  Task<Result<FileInfo>> info_of(const Fd& fd, std::string path) const;
  Task<Result<void>> make_parents(Place place, const std::string& owner);
  Task<Result<void>> make_one(const std::string& path, const Account& account, const std::string& owner);
  // The object that the descriptor names becomes the account's of that name.
  Result<void> give_to(int fd, const std::string& owner) const;
  Task<Result<std::vector<FileInfo>>> entries_of(Place directory);
  // Every entry below, depth first; `visit` says whether to go on.
  Task<Result<void>> walk(Place directory, int depth, const std::function<Task<bool>(const FileInfo&)>& visit);
  Task<Result<void>> remove_tree(Place directory);
  Task<Result<void>> search_file(const FileInfo& file, const FileSearch& what, const Account& account,
                                 std::vector<FileMatch>& found);

  Host& host_;
  std::shared_ptr<Sandbox> sandbox_;
};

}  // namespace bj
