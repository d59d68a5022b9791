#include "engine/import/import_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "sys/bytes.h"
#include "sys/directory.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr size_t kBlock = 256u << 10;

EntryType type_of(mode_t mode) {
  if (S_ISREG(mode)) return EntryType::kFile;
  if (S_ISDIR(mode)) return EntryType::kDirectory;
  if (S_ISLNK(mode)) return EntryType::kSymlink;
  return EntryType::kSpecial;
}

Result<std::string> read_link(const Fd& dir, const std::string& name) {
  Result<std::string> target = link_text_at(dir.get(), name);
  if (!target) return fail_with(target.error().sys, "can't be read: readlink");
  return target;
}

// At most `size` bytes: a file that grows meanwhile is cut.
Result<void> read_file_data(const Fd& dir, const std::string& name, uint64_t size, const DataSink& sink) {
  BJ_TRY(const Fd file, open_at(dir.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(Code::kInvalid, "changed while it was copied");
  std::string buffer(kBlock, '\0');
  for (uint64_t offset = 0; offset < size;) {
    const Moved read = read_some(file.get(), buffer.data(), std::min<uint64_t>(buffer.size(), size - offset));
    if (!read.ok()) return fail_with(read.sys, "can't be read: read");
    if (read.ended()) break;
    BJ_CHECK(sink(offset, {buffer.data(), read.size}));
    offset += read.size;
  }
  return {};
}

class Copy {
 public:
  Copy(TreeWriter& writer, const FileIdentity& excluded, const std::function<void()>& progress)
      : writer_(writer), excluded_(excluded), progress_(progress) {}

  Result<void> run(int source) {
    struct stat info{};
    if (::fstat(source, &info) != 0) return fail_errno("fstat");
    device_ = info.st_dev;
    BJ_TRY(const Fd dir, open_at(source, ".", O_RDONLY | O_DIRECTORY));
    return copy_children(dir, "");
  }

 private:
  Result<void> copy_children(const Fd& dir, const std::string& prefix) {
    BJ_TRY(const auto entries, list_directory(dir.get()));
    for (const bj::Entry& entry : entries) {
      const std::string path = prefix + entry.name;
      if (Result<void> done = copy_one(dir, entry.name, path); !done) {
        Error error = std::move(done).error();
        if (!named_) error.what = printable(path) + " " + error.what;
        named_ = true;
        return tl::unexpected(std::move(error));
      }
    }
    return {};
  }

  Result<void> copy_one(const Fd& dir, const std::string& name, const std::string& path) {
    struct stat info{};
    if (::fstatat(dir.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return fail_errno("can't be read: stat");
    if (info.st_dev == excluded_.device && info.st_ino == excluded_.inode) return {};
    ImportEntry entry{.path = path,
                      .type = type_of(info.st_mode),
                      .target = "",
                      .size = 0,
                      .mode = info.st_mode & 07777u,
                      .uid = info.st_uid,
                      .gid = info.st_gid,
                      .modified_seconds = info.st_mtim.tv_sec,
                      .attributes = 0};
    if (entry.type == EntryType::kFile) {
      entry.size = static_cast<uint64_t>(info.st_size);
      if (info.st_nlink > 1) as_hard_link(info, entry);
    }
    if (entry.type == EntryType::kSymlink) {
      BJ_TRY(entry.target, read_link(dir, name));
    }
    BJ_CHECK(writer_.add(entry, [&](const DataSink& sink) { return read_file_data(dir, name, entry.size, sink); }));
    progress_();
    if (entry.type != EntryType::kDirectory || info.st_dev != device_) return {};
    BJ_TRY(const Fd below, open_at(dir.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    return copy_children(below, path + "/");
  }

  // The second and later names of a file become links to the first.
  void as_hard_link(const struct stat& info, ImportEntry& entry) {
    const auto [known, fresh] = first_names_.try_emplace({info.st_dev, info.st_ino}, entry.path);
    if (fresh) return;
    entry.type = EntryType::kHardLink;
    entry.target = known->second;
  }

  TreeWriter& writer_;
  FileIdentity excluded_;
  const std::function<void()>& progress_;
  dev_t device_ = 0;
  bool named_ = false;  // a failure already names its entry
  std::map<std::pair<dev_t, ino_t>, std::string> first_names_;
};

}  // namespace

Result<void> copy_directory(int source, TreeWriter& writer, const FileIdentity& excluded,
                            const std::function<void()>& progress) {
  return Copy(writer, excluded, progress).run(source);
}

}  // namespace bj
