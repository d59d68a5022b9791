#include "engine/sandbox_files.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/bytes.h"
#include "sys/directory.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr size_t kLongestPath = 4095;
constexpr size_t kMostEntries = 10'000;  // of one directory, and of a listing
constexpr int kDeepest = 64;
constexpr uint64_t kMostSearched = 4 << 20;  // of one file
constexpr size_t kLongestLine = 300;
constexpr uint32_t kIdsOfASandbox = 65536;  // ranges begin at multiples of it

FileKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::kFile;
  if (S_ISDIR(mode)) return FileKind::kDirectory;
  return S_ISLNK(mode) ? FileKind::kLink : FileKind::kOther;
}

// As the sandbox sees an id: it has a range of them outside, or, rootless, one that stands for the user's.
uint32_t inside_id(const Host& host, const Sandbox& sandbox, uint32_t outside) {
  if (!host.uids) return outside == ::geteuid() ? sandbox.account().uid : outside;
  return outside % kIdsOfASandbox;
}

int64_t microseconds(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000; }

FileInfo info_from(const struct stat& status, const Host& host, const Sandbox& sandbox) {
  FileInfo info;
  info.kind = kind_of(status.st_mode);
  info.size = static_cast<uint64_t>(status.st_size);
  info.mode = status.st_mode & 07777;
  info.uid = inside_id(host, sandbox, status.st_uid);
  info.gid = inside_id(host, sandbox, status.st_gid);
  info.modified_us = microseconds(status.st_mtim);
  info.accessed_us = microseconds(status.st_atim);
  info.changed_us = microseconds(status.st_ctim);
  return info;
}

std::string name_of(const std::string& path) {
  const size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return "/";
  const size_t slash = path.find_last_of('/', end);
  return path.substr(slash + 1, end - slash);
}

// It is the sandbox that is not there, not the file.
bool is_gone(const Error& error) { return error.code == Code::kUnavailable && error.sys == 0; }

// It was a directory when its parent was listed.
bool is_no_directory(const Error& error) { return error.sys == ENOENT || error.sys == ENOTDIR || error.sys == ELOOP; }

std::string joined(const std::string& directory, const std::string& name) {
  return directory.ends_with("/") ? directory + name : directory + "/" + name;
}

// At most `most` lines of a text that hold `wanted`. memmem() is as quick as the text is long, whatever both hold.
std::vector<FileMatch> lines_with(const std::string& wanted, const std::string& text, const std::string& path,
                                  size_t most) {
  std::vector<FileMatch> found;
  if (text.find('\0') != std::string::npos) return found;  // no text
  uint64_t line = 0;
  for (size_t start = 0; start < text.size() && found.size() < most;) {
    const size_t end = std::min(text.find('\n', start), text.size());
    ++line;
    if (::memmem(text.data() + start, end - start, wanted.data(), wanted.size()) != nullptr)
      found.push_back({path, line, text.substr(start, std::min(end - start, kLongestLine))});
    start = end + 1;
  }
  return found;
}

}  // namespace

Task<Result<SandboxFiles::Place>> SandboxFiles::place_of(std::string path, std::string user) {
  Place place;
  BJ_CO_TRY(place.account, co_await sandbox_->find_account(user));
  if (!host_.uids && place.account.uid != sandbox_->account().uid)
    co_return fail(Code::kUnavailable, "rootless, a sandbox has one user: files can't be another's");
  place.path = path;
  if (path == "~" || path.starts_with("~/")) place.path = place.account.home + path.substr(1);
  if (place.path.empty()) co_return fail(Code::kInvalid, "no path was given");
  if (!place.path.starts_with("/")) place.path = joined(place.account.home, place.path);
  if (place.path.find('\0') != std::string::npos) co_return fail(Code::kInvalid, "the path holds a NUL byte");
  if (place.path.size() > kLongestPath) co_return fail(Code::kInvalid, "the path is longer than 4095 bytes");
  co_return place;
}

Task<Result<Fd>> SandboxFiles::open(const Place& place, int flags, FileType type) {
  return sandbox_->warden().open(place.path, flags, 0, place.account.uid, place.account.gid, type);
}

Task<Result<FileInfo>> SandboxFiles::info_of(const Fd& fd, std::string path) const {
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) co_return fail_errno("fstat(" + path + ")");
  FileInfo info = info_from(status, host_, *sandbox_);
  if (info.kind == FileKind::kLink) {
    BJ_CO_TRY(info.link_target, link_text(fd.get()));
  }
  info.name = name_of(path);
  info.path = std::move(path);
  co_return info;
}

Task<Result<FileInfo>> SandboxFiles::stat(std::string path, std::string user) {
  BJ_CO_TRY(const Place place, co_await place_of(path, user));
  BJ_CO_TRY(const Fd fd, co_await open(place, O_PATH | O_NOFOLLOW, FileType::kAny));
  co_return co_await info_of(fd, place.path);
}

Task<Result<std::vector<FileInfo>>> SandboxFiles::entries_of(Place directory) {
  BJ_CO_TRY(Fd fd, co_await open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, FileType::kDirectory));
  auto read = [dir = std::make_shared<Fd>(std::move(fd))] { return read_directory(dir->get(), kMostEntries + 1); };
  BJ_CO_TRY(DirectoryPage page, co_await offload(*host_.workers, std::move(read)));
  std::vector<FileInfo> entries;
  entries.reserve(page.entries.size());
  for (DirectoryEntry& entry : page.entries) {
    FileInfo info = info_from(entry.status, host_, *sandbox_);
    info.path = joined(directory.path, entry.name);
    info.name = std::move(entry.name);
    info.link_target = std::move(entry.link_target);
    entries.push_back(std::move(info));
  }
  co_return entries;
}

// Directories that can't be read are passed over: /proc and what is another user's lie in many trees.
Task<Result<void>> SandboxFiles::walk(Place directory, int depth,
                                      const std::function<Task<bool>(const FileInfo&)>& visit) {
  struct Level {
    std::vector<FileInfo> entries;
    size_t at = 0;
  };
  std::vector<Level> levels;
  BJ_CO_TRY(std::vector<FileInfo> first, co_await entries_of(directory));
  levels.push_back({std::move(first), 0});
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.at == level.entries.size()) {
      levels.pop_back();
      continue;
    }
    const FileInfo entry = level.entries[level.at++];
    if (!co_await visit(entry)) break;
    const bool deeper = entry.kind == FileKind::kDirectory && static_cast<int>(levels.size()) < depth &&
                        static_cast<int>(levels.size()) < kDeepest;
    if (!deeper) continue;
    Result<std::vector<FileInfo>> below = co_await entries_of({entry.path, directory.account});
    if (!below && is_gone(below.error())) co_return tl::unexpected(below.error());
    if (below) levels.push_back({std::move(*below), 0});
  }
  co_return Result<void>();
}

// It may be reached through a link: that is decided before its entries are asked for.
Task<Result<SandboxFiles::Place>> SandboxFiles::directory_at(const std::string& path, const std::string& user) {
  BJ_CO_TRY(Place place, co_await place_of(path, user));
  BJ_CO_CHECK(co_await open(place, O_RDONLY | O_DIRECTORY, FileType::kDirectory));
  if (!place.path.ends_with("/")) place.path += "/";  // of a link, what it leads to
  co_return place;
}

Task<Result<FileListing>> SandboxFiles::list(std::string path, std::string user, int depth) {
  BJ_CO_TRY(const Place place, co_await directory_at(path, user));
  FileListing listing;
  const auto visit = [&listing](const FileInfo& entry) -> Task<bool> {
    listing.cut = listing.entries.size() == kMostEntries;
    if (!listing.cut) listing.entries.push_back(entry);
    co_return !listing.cut;
  };
  BJ_CO_CHECK(co_await walk(place, std::max(depth, 1), visit));
  co_return listing;
}

FileInfo SandboxFiles::info_from_status(const struct stat& status) const { return info_from(status, host_, *sandbox_); }

Task<Result<Fd>> SandboxFiles::locate(std::string path, std::string user, LastLink link) {
  BJ_CO_TRY(const Place place, co_await place_of(path, user));
  co_return co_await open(place, O_PATH | (link == LastLink::kKeep ? O_NOFOLLOW : 0), FileType::kAny);
}

// By the descriptor, which is of a sandbox's filesystem: ids inside begin at a multiple of what a sandbox has.
Result<void> SandboxFiles::give(int fd, std::optional<uid_t> uid, std::optional<gid_t> gid) const {
  if (uid.value_or(0) >= kIdsOfASandbox || gid.value_or(0) >= kIdsOfASandbox)
    return fail(Code::kInvalid, "an id inside a sandbox is from 0 to 65535");
  struct stat status{};
  if (::fstat(fd, &status) != 0) return fail_errno("fstat");
  const uid_t first = status.st_uid - status.st_uid % kIdsOfASandbox;
  if (first == 0) return fail(Code::kDenied, "chown: what lies there is not the sandbox's");
  const uid_t owner = uid ? first + *uid : status.st_uid;
  const gid_t group = gid ? first + *gid : status.st_gid;
  if (::fchownat(fd, "", owner, group, AT_EMPTY_PATH) != 0) return fail_errno("fchown");
  return {};
}

Result<void> SandboxFiles::give_to(int fd, const std::string& owner) const {
  if (owner.empty() || !host_.uids) return {};
  BJ_TRY(const Account account, sandbox_->known_account(owner));
  return give(fd, account.uid, account.gid);
}

Task<Result<void>> SandboxFiles::make_one(const std::string& path, const Account& account, const std::string& owner) {
  BJ_CO_CHECK(co_await sandbox_->warden().make_directory(path, 0755, account.uid, account.gid));
  if (owner.empty()) co_return Result<void>();
  BJ_CO_TRY(const Fd made, co_await open({path, account}, O_PATH | O_NOFOLLOW, FileType::kDirectory));
  co_return give_to(made.get(), owner);
}

Task<Result<void>> SandboxFiles::make_parents(Place place, const std::string& owner) {
  for (size_t at = place.path.find('/', 1); at != std::string::npos; at = place.path.find('/', at + 1)) {
    const Result<void> made = co_await make_one(place.path.substr(0, at), place.account, owner);
    if (!made && made.error().sys != EEXIST) {
      const Result<Fd> there = co_await open({place.path.substr(0, at), place.account}, O_PATH, FileType::kDirectory);
      if (!there) co_return made;  // one that can't be written to but is there will do
    }
  }
  co_return Result<void>();
}

Task<Result<void>> SandboxFiles::make_directory(std::string path, std::string user, Parents parents,
                                                std::string owner) {
  BJ_CO_TRY(const Place place, co_await place_of(path, user));
  if (parents == Parents::kMake) BJ_CO_CHECK(co_await make_parents(place, owner));
  Result<void> made = co_await make_one(place.path, place.account, owner);
  if (!made && made.error().sys == EEXIST) co_return fail(Code::kConflict, made.error().what, EEXIST);
  co_return made;
}

Task<Result<void>> SandboxFiles::move(std::string from, std::string to, std::string user, Parents parents,
                                      std::string owner) {
  BJ_CO_TRY(const Place source, co_await place_of(from, user));
  BJ_CO_TRY(const Place target, co_await place_of(to, user));
  if (parents == Parents::kMake) BJ_CO_CHECK(co_await make_parents(target, owner));
  co_return co_await sandbox_->warden().rename(source.path, target.path, source.account.uid, source.account.gid);
}

Task<Result<void>> SandboxFiles::remove(std::string path, std::string user, Removal removal) {
  BJ_CO_TRY(const Place place, co_await place_of(path, user));
  BJ_CO_TRY(const FileInfo info, co_await stat(place.path, user));
  if (info.kind == FileKind::kDirectory && removal == Removal::kTree) co_return co_await remove_tree(place);
  const FileType type = info.kind == FileKind::kDirectory ? FileType::kDirectory : FileType::kAny;
  Result<void> removed = co_await sandbox_->warden().remove(place.path, type, place.account.uid, place.account.gid);
  if (!removed && removed.error().sys == ENOTEMPTY)
    co_return fail(Code::kConflict, removed.error().what + "; remove it with what is in it (recursive)", ENOTEMPTY);
  co_return removed;
}

// Directory by directory, each again until it is empty: a listing is bounded, and who lives inside may add to it. What
// lies in a directory goes before it, and all of a listing before the next one of the same directory.
Task<Result<void>> SandboxFiles::remove_tree(Place directory) {
  constexpr int kRounds = 10'000;
  const Account& account = directory.account;
  std::vector<std::string> waiting = {directory.path};
  for (int round = 0; !waiting.empty(); ++round) {
    const std::string path = waiting.back();
    const Result<std::vector<FileInfo>> entries = co_await entries_of({path, account});
    const bool vanished = !entries && waiting.size() > 1 && is_no_directory(entries.error());  // its parent knows
    if (!entries && !vanished) co_return tl::unexpected(entries.error());
    if (vanished || entries->empty()) {
      if (!vanished)
        BJ_CO_CHECK(co_await sandbox_->warden().remove(path, FileType::kDirectory, account.uid, account.gid));
      waiting.pop_back();
      round = vanished ? round : 0;
      continue;
    }
    if (round > kRounds)
      co_return fail(Code::kBusy, "remove(" + directory.path + "): it fills as fast as it is emptied");
    const size_t before = waiting.size();
    for (const FileInfo& entry : *entries) {
      if (entry.kind != FileKind::kDirectory) {
        BJ_CO_CHECK(co_await sandbox_->warden().remove(entry.path, FileType::kAny, account.uid, account.gid));
      } else if (waiting.size() == before || waiting.size() < kMostEntries) {
        waiting.push_back(entry.path);
      }
    }
  }
  co_return Result<void>();
}

Task<Result<void>> SandboxFiles::search_file(const FileInfo& file, const FileSearch& what, const Account& account,
                                             std::vector<FileMatch>& found) {
  BJ_CO_TRY(Fd fd, co_await open({file.path, account}, O_RDONLY | O_NOFOLLOW, FileType::kRegular));
  auto look = [file_fd = std::make_shared<Fd>(std::move(fd)), path = file.path, wanted = what.text,
               most = what.limit - found.size()]() -> Result<std::vector<FileMatch>> {
    BJ_TRY(const std::string text, read_all(file_fd->get(), kMostSearched, path));
    return lines_with(wanted, text, path, most);
  };
  BJ_CO_TRY(std::vector<FileMatch> lines, co_await offload(*host_.workers, std::move(look)));
  std::move(lines.begin(), lines.end(), std::back_inserter(found));
  co_return Result<void>();
}

Task<Result<std::vector<FileMatch>>> SandboxFiles::search(FileSearch what, std::string user) {
  BJ_CO_TRY(const Place place, co_await directory_at(what.path, user));
  std::vector<FileMatch> found;
  Result<void> outcome;
  size_t seen = 0;
  const auto visit = [&](const FileInfo& entry) -> Task<bool> {
    const bool named = what.name.empty() || ::fnmatch(what.name.c_str(), entry.name.c_str(), 0) == 0;
    if (named && what.text.empty()) {
      found.push_back({entry.path, 0, ""});
    } else if (named && entry.kind == FileKind::kFile) {
      Result<void> searched = co_await search_file(entry, what, place.account, found);
      if (!searched && is_gone(searched.error())) outcome = std::move(searched);  // what can't be read says nothing
    }
    co_return (outcome && found.size() < what.limit && ++seen < 10 * kMostEntries);
  };
  BJ_CO_CHECK(co_await walk(place, kDeepest, visit));
  BJ_CO_CHECK(outcome);
  co_return found;
}

Task<Result<std::shared_ptr<TreeWatch>>> SandboxFiles::watch(std::string path, std::string user, WatchReach reach) {
  BJ_CO_TRY(const Place place, co_await place_of(path, user));
  BJ_CO_TRY(Fd inotify,
            co_await sandbox_->warden().watch(place.path, TreeWatch::kMask, place.account.uid, place.account.gid));
  const auto open_below = [sandbox = sandbox_, place](std::string relative) -> Task<Result<Fd>> {
    const std::string below = relative.empty() ? place.path : joined(place.path, relative);
    const int flags = O_RDONLY | O_DIRECTORY | (relative.empty() ? 0 : O_NOFOLLOW);
    co_return co_await sandbox->warden().open(below, flags, 0, place.account.uid, place.account.gid,
                                              FileType::kDirectory);
  };
  const auto changes =
      std::make_shared<TreeWatch>(host_.executor, *host_.workers, std::move(inotify), open_below, reach);
  BJ_CO_CHECK(co_await changes->begin());
  co_return changes;
}

Task<Result<SandboxFiles::Opened>> SandboxFiles::open_to_read(std::string path, std::string user) {
  BJ_CO_TRY(const Place place, co_await place_of(path, user));
  BJ_CO_TRY(Fd fd, co_await open(place, O_RDONLY, FileType::kRegular));
  Opened opened;
  BJ_CO_TRY(opened.info, co_await info_of(fd, place.path));
  opened.file = std::make_shared<Fd>(std::move(fd));
  co_return opened;
}

Task<Result<SandboxFiles::Opened>> SandboxFiles::open_to_write(std::string path, std::string user, unsigned mode,
                                                               Writing writing, Parents parents, std::string owner) {
  BJ_CO_TRY(const Place place, co_await place_of(path, user));
  if (parents == Parents::kMake) BJ_CO_CHECK(co_await make_parents(place, owner));
  const int how = writing == Writing::kAppend ? O_APPEND : writing == Writing::kNew ? O_EXCL : O_TRUNC;
  const int flags = O_WRONLY | O_CREAT | how;
  BJ_CO_TRY(Fd fd, co_await sandbox_->warden().open(place.path, flags, mode, place.account.uid, place.account.gid,
                                                    FileType::kRegular));
  BJ_CO_CHECK(give_to(fd.get(), owner));
  Opened opened;
  BJ_CO_TRY(opened.info, co_await info_of(fd, place.path));
  opened.file = std::make_shared<Fd>(std::move(fd));
  co_return opened;
}

Task<Result<std::string>> SandboxFiles::read(const Opened& opened, uint64_t offset, size_t most) {
  if (sandbox_->has_ended()) co_return fail(Code::kUnavailable, "the sandbox has ended");
  auto work = [file = opened.file, offset, most]() -> Result<std::string> {
    std::string bytes(most, '\0');
    size_t done = 0;
    while (done < most) {
      const Moved read = read_at(file->get(), bytes.data() + done, most - done, static_cast<off_t>(offset + done));
      if (!read.ok()) return fail_with(read.sys, "read");
      if (read.ended()) break;
      done += read.size;
    }
    bytes.resize(done);
    return bytes;
  };
  co_return co_await offload(*host_.workers, std::move(work));
}

Task<Result<void>> SandboxFiles::write(const Opened& opened, std::string bytes) {
  if (sandbox_->has_ended()) co_return fail(Code::kUnavailable, "the sandbox has ended");
  auto work = [file = opened.file, path = opened.info.path, data = std::move(bytes)] {
    return write_all(file->get(), data, path);
  };
  co_return co_await offload(*host_.workers, std::move(work));
}

}  // namespace bj
