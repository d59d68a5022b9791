#include "sys/mount.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/raw.h"

namespace bj {
namespace {

// The C library's <sys/mount.h> and linux/mount.h exclude each other.
constexpr int kDetach = 2;
constexpr unsigned long kRecursivePrivate = (1 << 14) | (1 << 18);

template <class... Args>
int invoke(long number, Args... args) {
  return static_cast<int>(::syscall(number, args...));
}

}  // namespace

Result<Fd> clone_tree(int dir, const std::string& path, Recursive recursive) {
  unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
  if (recursive == Recursive::kYes) flags |= 0x8000;  // AT_RECURSIVE
  Fd tree(invoke(raw::kNrOpenTree, dir, path.c_str(), flags));
  if (!tree.ok()) return fail_errno("open_tree(" + path + ")");
  return tree;
}

Result<void> attach_tree(int tree, const std::string& path) {
  if (invoke(raw::kNrMoveMount, tree, "", AT_FDCWD, path.c_str(), MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS) !=
      0) {
    return fail_errno("move_mount(" + path + ")");
  }
  return {};
}

Result<void> set_mount_attributes(int tree, uint64_t attributes, int idmap_to) {
  mount_attr attr{};
  attr.attr_set = attributes;
  if (idmap_to >= 0) {
    attr.attr_set |= MOUNT_ATTR_IDMAP;
    attr.userns_fd = static_cast<uint64_t>(idmap_to);
  }
  if (invoke(raw::kNrMountSetattr, tree, "", raw::kAtEmptyPath, &attr, sizeof attr) != 0) {
    return fail_errno(idmap_to >= 0 ? "mount_setattr(idmap)" : "mount_setattr");
  }
  return {};
}

Result<Fd> new_filesystem(const char* type, std::initializer_list<MountOption> options, uint64_t attributes) {
  const std::string name = type;
  const Fd context(invoke(raw::kNrFsopen, type, FSOPEN_CLOEXEC));
  if (!context.ok()) return fail_errno("fsopen(" + name + ")");
  for (const auto& [key, value] : options) {
    const unsigned command = value != nullptr ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;
    if (invoke(raw::kNrFsconfig, context.get(), command, key, value, 0) != 0) {
      return fail_errno("fsconfig(" + name + " " + key + ")");
    }
  }
  if (invoke(raw::kNrFsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return fail_errno("fsconfig(" + name + " create)");
  }
  Fd mount(invoke(raw::kNrFsmount, context.get(), FSMOUNT_CLOEXEC, attributes));
  if (!mount.ok()) return fail_errno("fsmount(" + name + ")");
  return mount;
}

Result<void> make_filesystem_read_only(const std::string& path) {
  constexpr unsigned long kRemountReadOnly = 32 | 1;
  if (invoke(SYS_mount, nullptr, path.c_str(), nullptr, kRemountReadOnly, nullptr) != 0)
    return fail_errno("mount(read-only " + path + ")");
  return {};
}

Result<void> make_all_mounts_private() {
  if (invoke(SYS_mount, nullptr, "/", nullptr, kRecursivePrivate, nullptr) != 0) return fail_errno("mount(private)");
  return {};
}

Result<void> enter_root(const std::string& path, const std::string& old) {
  if (::chdir(path.c_str()) != 0) return fail_errno("chdir(" + path + ")");
  if (invoke(SYS_pivot_root, ".", old.c_str()) != 0) return fail_errno("pivot_root(" + path + ")");
  if (::chdir("/") != 0) return fail_errno("chdir(/)");
  if (invoke(SYS_umount2, ("/" + old).c_str(), kDetach) != 0) return fail_errno("umount2(old root)");
  return {};
}

Result<void> chroot_into(const std::string& path) {
  if (::chroot(path.c_str()) != 0) return fail_errno("chroot(" + path + ")");
  return {};
}

}  // namespace bj
