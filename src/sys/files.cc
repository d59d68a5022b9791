#include "sys/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>

#include "sys/bytes.h"

namespace bj {

Result<Fd> open_at(int dir, const std::string& path, int flags, unsigned mode) {
  for (;;) {
    Fd fd(::openat(dir, path.c_str(), flags | O_CLOEXEC, mode));
    if (fd.ok()) return fd;
    if (errno != EINTR) return fail_errno("open(" + path + ")");
  }
}

Result<Fd> open_path(const std::string& path, int flags, unsigned mode) { return open_at(AT_FDCWD, path, flags, mode); }

Result<std::string> read_all(int fd, size_t limit, const std::string& name) {
  std::string data;
  char buffer[65536];
  for (;;) {
    const Moved read = read_some(fd, buffer, sizeof buffer);
    if (!read.ok()) return fail_with(read.sys, "read(" + name + ")");
    if (read.ended()) return data;
    data.append(buffer, read.size);
    if (data.size() > limit) return fail(Code::kInvalid, name + " is larger than " + std::to_string(limit) + " bytes");
  }
}

Result<std::string> read_file(const std::string& path, size_t limit) {
  BJ_TRY(const Fd fd, open_path(path, O_RDONLY));
  return read_all(fd.get(), limit, path);
}

Result<void> write_all(int fd, std::string_view data, const std::string& name) {
  while (!data.empty()) {
    const Moved written = write_some(fd, data);
    if (!written.ok()) return fail_with(written.sys, "write(" + name + ")");
    data.remove_prefix(written.size);
  }
  return {};
}

Result<void> put_text(int dir, const std::string& path, std::string_view text) {
  BJ_TRY(const Fd fd, open_at(dir, path, O_WRONLY));
  if (::write(fd.get(), text.data(), text.size()) < 0) return fail_errno("write(" + path + ")");
  return {};
}

Result<void> write_file_atomically(const std::string& path, std::string_view data, unsigned mode) {
  std::string aside = path + ".XXXXXX";
  const Fd fd(::mkostemp(aside.data(), O_CLOEXEC));
  if (!fd.ok()) return fail_errno("mkostemp(" + aside + ")");
  Result<void> done = write_all(fd.get(), data, aside);
  if (done && ::fchmod(fd.get(), mode) != 0) done = fail_errno("fchmod(" + aside + ")");
  if (done && ::rename(aside.c_str(), path.c_str()) != 0) done = fail_errno("rename(" + path + ")");
  if (!done) ::unlink(aside.c_str());
  return done;
}

Result<void> make_directories(const std::string& path, unsigned mode) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    if (::mkdir(parent.c_str(), 0755) != 0 && errno != EEXIST) return fail_errno("mkdir(" + parent + ")");
  }
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) return fail_errno("mkdir(" + path + ")");
  return {};
}

Result<std::vector<Entry>> list_directory(int dir) {
  BJ_TRY(Fd own, open_at(dir, ".", O_RDONLY | O_DIRECTORY));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), ::closedir);
  if (!stream) return fail_errno("fdopendir");
  (void)own.release();  // closedir closes it
  std::vector<Entry> entries;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr && errno != 0) return fail_errno("readdir");
    if (entry == nullptr) return entries;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") entries.push_back({std::string(name), entry->d_type});
  }
}

namespace {

// Removes a tree with a bounded number of open directories: what lies deeper is moved up to `top` and comes later.
class TreeRemover {
 public:
  explicit TreeRemover(int top) : top_(top) {}

  Result<void> remove(const std::string& name) {
    waiting_ = {name};
    while (!waiting_.empty()) {
      const std::string next = std::move(waiting_.back());
      waiting_.pop_back();
      BJ_CHECK(remove_at(top_, next, 0));
    }
    return {};
  }

 private:
  static constexpr int kMaxDepth = 64;

  Result<void> remove_at(int dir, const std::string& name, int depth) {
    if (::unlinkat(dir, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    if (errno != EISDIR && errno != EPERM) return fail_errno("unlink(" + name + ")");
    if (depth == kMaxDepth) return move_up(dir, name);
    {
      BJ_TRY(const Fd fd, open_at(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
      BJ_TRY(const auto entries, list_directory(fd.get()));
      for (const Entry& entry : entries) BJ_CHECK(remove_at(fd.get(), entry.name, depth + 1));
    }
    if (::unlinkat(dir, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) return fail_errno("rmdir(" + name + ")");
    return {};
  }

  Result<void> move_up(int dir, const std::string& name) {
    for (;;) {
      const std::string aside = ".removed-" + std::to_string(++moved_);
      if (::renameat2(dir, name.c_str(), top_, aside.c_str(), RENAME_NOREPLACE) == 0) {
        waiting_.push_back(aside);
        return {};
      }
      if (errno != EEXIST) return fail_errno("rename(" + name + ")");
    }
  }

  int top_;
  uint64_t moved_ = 0;
  std::vector<std::string> waiting_;
};

}  // namespace

Result<void> remove_tree(int dir, const std::string& name) { return TreeRemover(dir).remove(name); }

void open_missing_stdio() {
  int fd = -1;
  do fd = ::open("/dev/null", O_RDWR);  // NOLINT(android-cloexec-open): as it would have been inherited
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd > STDERR_FILENO) ::close(fd);
}

Result<Fd> anonymous_file(const char* name, std::string_view contents) {
  constexpr unsigned kExecutable = 0x10;  // MFD_EXEC, unknown to older kernels
  Fd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | kExecutable));
  if (!fd.ok()) fd = Fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.ok()) return fail_errno("memfd_create");
  BJ_CHECK(write_all(fd.get(), contents, name));
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    return fail_errno("fcntl(F_ADD_SEALS)");
  }
  return open_path("/proc/self/fd/" + std::to_string(fd.get()), O_RDONLY);
}

}  // namespace bj
