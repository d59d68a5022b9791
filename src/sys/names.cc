#include "sys/names.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sys/files.h"

namespace bj {
namespace {

int flags_for(const std::string& name) { return name.empty() ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW; }

}  // namespace

Result<void> make_directory(int dir, const std::string& name, unsigned mode) {
  if (::mkdirat(dir, name.c_str(), mode) != 0) return fail_errno("mkdir(" + name + ")");
  return {};
}

Result<void> ensure_directory(int dir, const std::string& name, unsigned mode) {
  Result<void> made = make_directory(dir, name, mode);
  return !made && made.error().sys == EEXIST ? Result<void>() : made;
}

Result<Fd> new_directory(int dir, const std::string& name, unsigned mode) {
  BJ_CHECK(make_directory(dir, name, mode));
  BJ_TRY(Fd made, open_at(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  if (::fchmod(made.get(), mode) != 0) return fail_errno("fchmod(" + name + ")");
  return made;
}

Result<void> remove_directory(int dir, const std::string& name) {
  if (::unlinkat(dir, name.c_str(), AT_REMOVEDIR) != 0) return fail_errno("rmdir(" + name + ")");
  return {};
}

Result<void> remove_file(int dir, const std::string& name) {
  if (::unlinkat(dir, name.c_str(), 0) != 0 && errno != ENOENT) return fail_errno("unlink(" + name + ")");
  return {};
}

Result<void> make_device(int dir, const std::string& name, mode_t mode, dev_t device) {
  if (::mknodat(dir, name.c_str(), mode, device) != 0) return fail_errno("mknod(" + name + ")");
  return {};
}

Result<void> make_symlink(const std::string& target, int dir, const std::string& name) {
  if (::symlinkat(target.c_str(), dir, name.c_str()) != 0) return fail_errno("symlink(" + name + ")");
  return {};
}

Result<void> make_link(int from_dir, const std::string& from, int to_dir, const std::string& to) {
  if (::linkat(from_dir, from.c_str(), to_dir, to.c_str(), 0) != 0) return fail_errno("link(" + to + ")");
  return {};
}

Result<void> rename_at(int dir, const std::string& from, const std::string& to, unsigned flags) {
  if (::renameat2(dir, from.c_str(), dir, to.c_str(), flags) != 0) return fail_errno("rename(" + to + ")");
  return {};
}

Result<std::string> real_path(const std::string& path) {
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) == nullptr) return fail_errno("realpath(" + path + ")");
  return std::string(resolved);
}

Result<struct stat> status_at(int dir, const std::string& name) {
  struct stat status{};
  if (::fstatat(dir, name.c_str(), &status, flags_for(name)) != 0) return fail_errno("stat(" + name + ")");
  return status;
}

Result<void> change_owner(int dir, const std::string& name, uid_t uid, gid_t gid) {
  if (::fchownat(dir, name.c_str(), uid, gid, flags_for(name)) != 0) return fail_errno("chown(" + name + ")");
  return {};
}

Result<void> change_mode(int dir, const std::string& name, unsigned mode) {
  const int done = name.empty() ? ::fchmod(dir, mode) : ::fchmodat(dir, name.c_str(), mode, AT_SYMLINK_NOFOLLOW);
  if (done != 0) return fail_errno("chmod(" + name + ")");
  return {};
}

Result<void> change_times(int dir, const std::string& name, const std::array<timespec, 2>& times) {
  // Not utimensat with AT_EMPTY_PATH, which kernels before 5.8 don't know.
  const int done =
      name.empty() ? ::futimens(dir, times.data()) : ::utimensat(dir, name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
  if (done != 0) return fail_errno("utimensat(" + name + ")");
  return {};
}

}  // namespace bj
