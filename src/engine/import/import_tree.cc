#include "engine/import/import_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "sys/files.h"
#include "sys/names.h"

namespace bj {
namespace {

constexpr int64_t kHighestId = 65535;
constexpr uid_t kNobody = 65534;
constexpr size_t kLongestTarget = 4095;
constexpr unsigned kSetIdBits = S_ISUID | S_ISGID;
constexpr std::string_view kWhiteout = ".wh.", kWhiteoutMeta = ".wh..wh.", kOpaque = ".wh..wh..opq";

uid_t clamped(int64_t id) { return id >= 0 && id <= kHighestId ? static_cast<uid_t>(id) : kNobody; }

// Runs `make`; if something of that name is there, removes it and runs `make` again.
template <class Make>
Result<void> make_over(const Fd& parent, const std::string& name, const std::string& call, Make make) {
  Result<void> made = make();
  if (!made && made.error().sys == EEXIST) {
    BJ_CHECK(remove_tree(parent.get(), name));
    made = make();
  }
  if (!made) return fail_with(made.error().sys, call);
  return {};
}

// Of `name` in `dir`, or of the file `dir` itself if the name is empty. A date that the filesystem can't hold is left.
Result<void> set_time(int dir, const std::string& name, int64_t seconds) {
  const Result<void> done = change_times(dir, name, {timespec{0, UTIME_OMIT}, timespec{seconds, 0}});
  if (!done && done.error().sys != EINVAL) return fail_with(done.error().sys, "can't be given its time: utimensat");
  return {};
}

uint64_t inode_of(const Fd& fd) {
  struct stat info{};
  return ::fstat(fd.get(), &info) == 0 ? info.st_ino : 0;
}

}  // namespace

void TreeWriter::begin_layer(Whiteouts whiteouts) {
  whiteouts_ = whiteouts;
  ++layer_;
  of_this_layer_.clear();
  opaque_.clear();
}

Result<void> TreeWriter::add(const ImportEntry& entry, const DataSource& data) {
  BJ_TRY(const PathParts parts, split_entry_path(entry.path, limits_));
  BJ_CHECK(count_entry());
  counts_.attributes += entry.attributes;
  if (parts.empty()) {  // the root itself: it is ours, with our mode
    if (entry.type == EntryType::kDirectory) return {};
    return fail(Code::kInvalid, "stands for the root directory but is none");
  }
  if (whiteouts_ == Whiteouts::kApplied && parts.back().starts_with(kWhiteout)) return apply_whiteout(parts);
  BJ_TRY(const Fd parent, open_parent(parts, Missing::kMade));
  mark(parent, parts.back());
  switch (entry.type) {
    case EntryType::kDirectory: return add_directory(parent, parts.back(), entry);
    case EntryType::kFile: return add_file(parent, parts.back(), entry, data);
    case EntryType::kSymlink: return add_symlink(parent, parts.back(), entry);
    case EntryType::kHardLink: return add_hard_link(parent, parts, entry);
    case EntryType::kSpecial: ++counts_.special_files; return remove_tree(parent.get(), parts.back());
  }
  return fail(Code::kInternal, "has an unknown type");
}

Result<void> TreeWriter::count_entry() {
  if (++counts_.entries <= limits_.max_entries) return {};
  return fail(Code::kExhausted, fmt::format("is beyond the {} entries that an import takes", limits_.max_entries));
}

Result<void> TreeWriter::charge(uint64_t size) {
  if (size > limits_.max_file_bytes) {
    return fail(Code::kExhausted,
                fmt::format("is larger than the {} bytes that an import takes in one file", limits_.max_file_bytes));
  }
  if (size > limits_.max_total_bytes - counts_.bytes) {
    return fail(Code::kExhausted,
                fmt::format("would bring the import over its {} bytes in all", limits_.max_total_bytes));
  }
  counts_.bytes += size;
  return {};
}

Result<Fd> TreeWriter::step(const Fd& at, const PathParts& parts, size_t index, Missing missing) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW;
  const std::string& name = parts[index];
  Result<Fd> next = open_at(at.get(), name, kFlags);
  if (!next && next.error().sys == ENOENT) {
    if (missing == Missing::kLeft) return Fd();
    BJ_CHECK(count_entry());
    if (::mkdirat(at.get(), name.c_str(), 0755) != 0) return fail_errno("can't be placed: mkdir");
    next = open_at(at.get(), name, kFlags);
  }
  if (!next && next.error().sys == ENOTDIR) {
    const std::string path = joined(PathParts(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(index) + 1));
    return fail(Code::kInvalid, "lies below " + printable(path) + ", which is a symlink or a file, not a directory");
  }
  if (next && missing == Missing::kMade) mark(at, name);
  return next;
}

Result<Fd> TreeWriter::open_parent(const PathParts& parts, Missing missing) {
  BJ_TRY(Fd at, open_at(root_.get(), ".", O_PATH | O_DIRECTORY));
  for (size_t i = 0; i + 1 < parts.size() && at.ok(); ++i) {
    BJ_TRY(at, step(at, parts, i, missing));
  }
  return at;
}

unsigned TreeWriter::kept_mode(const ImportEntry& entry, unsigned mask) {
  if ((entry.mode & kSetIdBits) != 0) ++counts_.set_id_bits;
  return entry.mode & mask & ~kSetIdBits;
}

Result<void> TreeWriter::set_owner(int fd, const std::string& name, const ImportEntry& entry) {
  if (owners_ == Owners::kCallers) {
    if (entry.uid != 0 || entry.gid != 0) ++counts_.owners;
    return {};
  }
  const uid_t uid = clamped(entry.uid);
  const gid_t gid = clamped(entry.gid);
  bool kept = uid == entry.uid && gid == entry.gid;
  if (const Result<void> done = change_owner(fd, name, uid, gid); !done) {
    const int error = done.error().sys;
    if (error != EPERM && error != EINVAL) return fail_with(error, "can't be given its owner: fchownat");
    kept = false;  // root of a user namespace that has no such id
  }
  if (!kept) ++counts_.owners;
  return {};
}

Result<void> TreeWriter::add_directory(const Fd& parent, const std::string& name, const ImportEntry& entry) {
  if (const Result<void> made = ensure_directory(parent.get(), name, 0700); !made)
    return fail_with(made.error().sys, "can't be made: mkdir");
  Result<Fd> dir = open_at(parent.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!dir && (dir.error().sys == ENOTDIR || dir.error().sys == ELOOP)) {
    BJ_CHECK(make_over(parent, name, "can't be made: mkdir", [&] { return make_directory(parent.get(), name, 0700); }));
    dir = open_at(parent.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  }
  if (!dir) return tl::unexpected(dir.error());
  BJ_CHECK(set_owner(dir->get(), "", entry));
  // Without root's rights a directory must stay open to its owner, or it could neither be filled nor removed.
  const unsigned mode = kept_mode(entry, 01777) | (owners_ == Owners::kCallers ? 0700u : 0u);
  if (::fchmod(dir->get(), mode) != 0) return fail_errno("can't be given its mode: fchmod");
  return {};
}

Result<void> TreeWriter::add_file(const Fd& parent, const std::string& name, const ImportEntry& entry,
                                  const DataSource& data) {
  BJ_CHECK(charge(entry.size));
  Fd file;
  BJ_CHECK(make_over(parent, name, "can't be made: open", [&]() -> Result<void> {
    BJ_TRY(file, open_at(parent.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    return {};
  }));
  uint64_t end = 0;
  BJ_CHECK(data([&](uint64_t offset, std::string_view block) -> Result<void> {
    if (offset < end || offset > entry.size || block.size() > entry.size - offset) {
      return fail(Code::kInvalid, "has more data than its size says");
    }
    if (offset != end && ::lseek(file.get(), static_cast<off_t>(offset), SEEK_SET) < 0) return fail_errno("lseek");
    end = offset + block.size();
    return write_all(file.get(), block, "can't be written");
  }));
  if (end < entry.size && ::ftruncate(file.get(), static_cast<off_t>(entry.size)) != 0) return fail_errno("ftruncate");
  BJ_CHECK(set_owner(file.get(), "", entry));
  if (::fchmod(file.get(), kept_mode(entry, 0777)) != 0) return fail_errno("can't be given its mode: fchmod");
  return set_time(file.get(), "", entry.modified_seconds);
}

Result<void> TreeWriter::add_symlink(const Fd& parent, const std::string& name, const ImportEntry& entry) {
  if (entry.target.empty() || entry.target.size() > kLongestTarget) {
    return fail(Code::kInvalid, "is a symlink with no target, or one too long");
  }
  BJ_CHECK(make_over(parent, name, "can't be made: symlink",
                     [&] { return make_symlink(entry.target, parent.get(), name); }));
  BJ_CHECK(set_owner(parent.get(), name, entry));
  return set_time(parent.get(), name, entry.modified_seconds);
}

Result<void> TreeWriter::add_hard_link(const Fd& parent, const PathParts& parts, const ImportEntry& entry) {
  const std::string what = "is a hard link to " + printable(entry.target);
  const Result<PathParts> target = split_entry_path(entry.target, limits_);
  if (!target) return fail(Code::kInvalid, what + ", which " + target.error().what);
  if (target->empty()) return fail(Code::kInvalid, what + ", which is the root directory");
  if (*target == parts) return {};
  const Result<Fd> from = open_parent(*target, Missing::kLeft);
  if (!from) return fail(Code::kInvalid, what + ", which " + from.error().what);
  struct stat info{};
  if (!from->ok() || ::fstatat(from->get(), target->back().c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(info.st_mode)) {
    return fail(Code::kInvalid, what + ", which is not a file that the archive brought before");
  }
  return make_over(parent, parts.back(), what + ": link",
                   [&] { return make_link(from->get(), target->back(), parent.get(), parts.back()); });
}

Result<void> TreeWriter::apply_whiteout(const PathParts& parts) {
  const std::string& name = parts.back();
  const std::string hidden = name.substr(kWhiteout.size());
  if (hidden.empty() || hidden == "." || hidden == "..") return fail(Code::kInvalid, "is a whiteout of nothing");
  if (layer_ == 1 || (name.starts_with(kWhiteoutMeta) && name != kOpaque)) return {};
  BJ_TRY(const Fd parent, open_parent(parts, Missing::kLeft));
  if (!parent.ok()) return {};
  if (name == kOpaque) return opaque_.insert(inode_of(parent)).second ? remove_earlier_layers(parent) : Result<void>();
  if (of_this_layer_.contains(key(parent, hidden))) return {};
  return remove_tree(parent.get(), hidden);
}

Result<void> TreeWriter::remove_earlier_layers(const Fd& dir) {
  BJ_TRY(const auto entries, list_directory(dir.get()));
  for (const Entry& entry : entries) {
    if (!of_this_layer_.contains(key(dir, entry.name))) {
      BJ_CHECK(remove_tree(dir.get(), entry.name));
    } else if (const Result<Fd> below = open_at(dir.get(), entry.name, O_PATH | O_DIRECTORY | O_NOFOLLOW)) {
      BJ_CHECK(remove_earlier_layers(*below));
    }
  }
  return {};
}

uint64_t TreeWriter::key(const Fd& dir, const std::string& name) const {
  return std::hash<std::string>()(name) ^ (inode_of(dir) * 0x9E3779B97F4A7C15ull);
}

void TreeWriter::mark(const Fd& dir, const std::string& name) {
  if (layer_ > 1 && whiteouts_ == Whiteouts::kApplied) of_this_layer_.insert(key(dir, name));
}

}  // namespace bj
