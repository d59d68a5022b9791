#include "engine/environments/environment_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "engine/import/import_tree.h"
#include "sys/bytes.h"
#include "sys/directory.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr size_t kBlock = 256u << 10;
constexpr unsigned kSetIdBits = S_ISUID | S_ISGID;

Result<std::string> read_link(const Fd& dir, const std::string& name) {
  Result<std::string> target = link_text_at(dir.get(), name);
  if (!target) return fail_with(target.error().sys, "can't be read: readlink");
  return target;
}

Result<void> read_data(const Fd& file, uint64_t size, const DataSink& sink) {
  std::string buffer(kBlock, '\0');
  for (uint64_t offset = 0; offset < size;) {
    const Moved read = read_some(file.get(), buffer.data(), std::min<uint64_t>(buffer.size(), size - offset));
    if (!read.ok()) return fail_with(read.sys, "can't be read: read");
    if (read.ended()) break;
    const std::string_view block(buffer.data(), read.size);
    // Holes stay holes: a file of nothing costs nothing here either.
    if (block.find_first_not_of('\0') != std::string_view::npos) BJ_CHECK(sink(offset, block));
    offset += read.size;
  }
  return {};
}

// A virtual environment's own interpreter is a link to the template's.
bool is_interpreter_link(std::string_view path) {
  if (!path.starts_with("bin/python")) return false;
  const std::string_view version = path.substr(std::string_view("bin/python").size());
  return version.find_first_not_of("0123456789.") == std::string_view::npos;
}

// By its text alone: from the directory that holds it, does it stay below the top?
bool stays_inside(const std::string& path, const std::string& target, const std::string& target_inside) {
  std::string way = target;
  long depth = std::count(path.begin(), path.end(), '/');
  if (target.starts_with("/")) {
    if (!target.starts_with(target_inside + "/")) return false;
    way = target.substr(target_inside.size() + 1);
    depth = 0;
  }
  for (size_t from = 0; from <= way.size();) {
    const size_t slash = std::min(way.find('/', from), way.size());
    const std::string part = way.substr(from, slash - from);
    from = slash + 1;
    if (part == "..")
      --depth;
    else if (!part.empty() && part != ".")
      ++depth;
    if (depth < 0) return false;
  }
  return true;
}

class InstalledCopy {
 public:
  InstalledCopy(TreeWriter& writer, const std::string& target_inside, const ImportLimits& limits)
      : writer_(writer), target_inside_(target_inside), limits_(limits) {}

  Result<void> run(int from) {
    struct stat info{};
    if (::fstat(from, &info) != 0) return fail_errno("fstat(packages)");
    device_ = info.st_dev;
    owner_ = info.st_uid;
    BJ_TRY(const Fd top, open_at(from, ".", O_RDONLY | O_DIRECTORY));
    return copy_children(top, "", 0);
  }

 private:
  Result<void> copy_children(const Fd& dir, const std::string& prefix, unsigned depth) {
    if (depth > limits_.max_depth) return fail(Code::kInvalid, "the packages lie too many directories deep");
    BJ_TRY(const auto entries, list_directory(dir.get()));
    for (const Entry& entry : entries) {
      const std::string path = prefix + entry.name;
      Result<bool> descend = copy_one(dir, entry.name, path);
      if (!descend) {
        return fail(Code::kInvalid, "an installed package is refused: " + printable(path) + " " + descend.error().what);
      }
      if (!*descend) continue;
      BJ_TRY(const Fd below, open_at(dir.get(), entry.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
      BJ_CHECK(copy_children(below, path + "/", depth + 1));
    }
    return {};
  }

  // True for a directory. A failure's text continues a sentence that names the entry.
  Result<bool> copy_one(const Fd& dir, const std::string& name, const std::string& path) {
    struct stat info{};
    if (::fstatat(dir.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return fail_errno("can't be read: stat");
    if (info.st_uid != owner_) return fail(Code::kInvalid, "is not the installer's own");
    ImportEntry entry;
    entry.path = path;
    entry.modified_seconds = info.st_mtim.tv_sec;
    if (S_ISLNK(info.st_mode)) return add_link(dir, name, std::move(entry));
    if ((info.st_mode & kSetIdBits) != 0) return fail(Code::kInvalid, "has a set-user-id or set-group-id bit");
    if (S_ISREG(info.st_mode)) return add_file(dir, name, std::move(entry));
    if (!S_ISDIR(info.st_mode)) return fail(Code::kInvalid, "is a device, a FIFO or a socket");
    if (info.st_dev != device_) return fail(Code::kInvalid, "is another filesystem");
    entry.type = EntryType::kDirectory;
    entry.mode = 0755;
    BJ_CHECK(writer_.add(entry, {}));
    return true;
  }

  Result<bool> add_link(const Fd& dir, const std::string& name, ImportEntry entry) {
    entry.type = EntryType::kSymlink;
    BJ_TRY(entry.target, read_link(dir, name));
    if (!is_interpreter_link(entry.path) && !stays_inside(entry.path, entry.target, target_inside_)) {
      return fail(Code::kInvalid, "is a symlink that leads out, to " + printable(entry.target));
    }
    BJ_CHECK(writer_.add(entry, {}));
    return false;
  }

  // Hard links become files of their own: few packages have any.
  Result<bool> add_file(const Fd& dir, const std::string& name, ImportEntry entry) {
    BJ_TRY(const Fd file, open_at(dir.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    struct stat info{};
    if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return fail(Code::kInvalid, "changed meanwhile");
    entry.type = EntryType::kFile;
    entry.size = static_cast<uint64_t>(info.st_size);
    entry.mode = (info.st_mode & 0111u) != 0 ? 0755 : 0644;
    BJ_CHECK(writer_.add(entry, [&](const DataSink& sink) { return read_data(file, entry.size, sink); }));
    return false;
  }

  TreeWriter& writer_;
  const std::string& target_inside_;
  const ImportLimits& limits_;
  dev_t device_ = 0;
  uid_t owner_ = 0;
};

}  // namespace

Result<CopyCounts> copy_installed(int from, int to, const std::string& target_inside, const ImportLimits& limits) {
  BJ_TRY(Fd root, open_at(to, ".", O_RDONLY | O_DIRECTORY));
  TreeWriter writer(std::move(root), limits, Owners::kCallers);
  writer.begin_layer(Whiteouts::kPlainFiles);
  BJ_CHECK(InstalledCopy(writer, target_inside, limits).run(from));
  return CopyCounts{writer.counts().entries, writer.counts().bytes};
}

}  // namespace bj
