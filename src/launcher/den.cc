#include "launcher/den.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "seal/plan.h"
#include "sys/clone.h"
#include "sys/files.h"
#include "sys/machine_root.h"
#include "sys/mount.h"
#include "sys/names.h"

namespace bj {
namespace {

enum class Ids { kTheirOwn, kOurs };  // of sandboxes, outside

constexpr const char* kMountPoint =
    "/tmp";  // any directory that every host has; hidden for a moment, in our namespace only

struct DeviceNode {
  const char* name;
  unsigned major, minor;
};
constexpr std::array<DeviceNode, 6> kNodes = {
    {{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}}};

// As root of a user namespace of our own, an unprivileged caller may mount and make namespaces.
Result<void> become_own_root() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (const Result<void> entered = enter_new_namespaces(CLONE_NEWUSER); !entered) {
    return fail(Code::kUnavailable,
                "unprivileged user namespaces are not allowed here: run as root, or allow them (sysctl "
                "kernel.unprivileged_userns_clone=1, or kernel.apparmor_restrict_unprivileged_userns=0)",
                entered.error().sys);
  }
  BJ_CHECK(put_text(AT_FDCWD, "/proc/self/setgroups", "deny"));
  BJ_CHECK(put_text(AT_FDCWD, "/proc/self/uid_map", "0 " + std::to_string(uid) + " 1"));
  return put_text(AT_FDCWD, "/proc/self/gid_map", "0 " + std::to_string(gid) + " 1");
}

Result<Fd> new_private_namespace() {
  BJ_CHECK(enter_new_namespaces(CLONE_NEWNS));
  BJ_CHECK(make_all_mounts_private());
  return open_path("/proc/self/ns/mnt", O_RDONLY);
}

// Real nodes where we may make them, else the host's own, bound one by one.
Result<void> make_node(int dev, const DeviceNode& node) {
  const std::string name = node.name;
  Result<void> made = make_device(dev, name, S_IFCHR | 0666, makedev(node.major, node.minor));
  if (made || made.error().sys != EPERM) return made;
  BJ_TRY(const Fd place, open_at(dev, name, O_CREAT | O_WRONLY, 0666));
  BJ_TRY(const Fd tree, clone_tree(AT_FDCWD, "/dev/" + name, Recursive::kNo));
  return attach_tree(tree.get(), "/proc/self/fd/" + std::to_string(place.get()));
}

Result<void> make_dev(const std::string& path) {
  BJ_TRY(const Fd dev, open_path(path, O_RDONLY | O_DIRECTORY));
  for (const DeviceNode& node : kNodes) BJ_CHECK(make_node(dev.get(), node));
  for (const char* dir : {"pts", "shm"}) BJ_CHECK(ensure_directory(dev.get(), dir, 0755));
  static constexpr std::array<std::array<const char*, 2>, 5> kLinks = {{{"pts/ptmx", "ptmx"},
                                                                        {"/proc/self/fd", "fd"},
                                                                        {"/proc/self/fd/0", "stdin"},
                                                                        {"/proc/self/fd/1", "stdout"},
                                                                        {"/proc/self/fd/2", "stderr"}}};
  for (const auto& [target, name] : kLinks) BJ_CHECK(make_symlink(target, dev.get(), name));
  return {};
}

// Everything is put together on kMountPoint, then that becomes the root. /dev is of all sandboxes: where they are the
// same user as we, a zygote, which may mount, could make it writable for itself and change it for the others.
Result<void> build_root(Ids ids) {
  const std::string at = kMountPoint;
  const mode_t old_umask = ::umask(0);
  BJ_TRY(const Fd root, new_filesystem("tmpfs", {{"mode", "755"}, {"size", "1m"}}, 0));
  BJ_TRY(const Fd proc, clone_tree(AT_FDCWD, "/proc", Recursive::kYes));
  for (const char* dir : {"proc", "dev", "new", "old", "scratch", "layers"})
    BJ_CHECK(ensure_directory(root.get(), dir, 0755));
  for (size_t i = 0; i < kMaxLayers; ++i) BJ_CHECK(ensure_directory(root.get(), layer_place(i), 0755));
  BJ_CHECK(attach_tree(root.get(), at));
  BJ_CHECK(attach_tree(proc.get(), at + "/proc"));
  BJ_TRY(const Fd dev, new_filesystem("tmpfs", {{"mode", "755"}, {"size", "64k"}}, 0));
  BJ_CHECK(attach_tree(dev.get(), at + "/dev"));
  BJ_CHECK(make_dev(at + "/dev"));
  if (ids == Ids::kOurs) BJ_CHECK(make_filesystem_read_only(at + "/dev"));
  ::umask(old_umask);
  return enter_root(at, "old");
}

}  // namespace

Result<Den> Den::dig() {
  const Ids ids = is_machine_root() ? Ids::kTheirOwn : Ids::kOurs;
  if (::geteuid() != 0) BJ_CHECK(become_own_root());
  Den den;
  BJ_TRY(den.host_view_, new_private_namespace());
  BJ_TRY(den.own_view_, new_private_namespace());
  BJ_CHECK(build_root(ids));
  return den;
}

Result<int> Den::add_layer(const std::string& path) {
  if (::setns(host_view_.get(), CLONE_NEWNS) != 0) return fail_errno("setns(host view)");
  const Result<Fd> tree = clone_tree(AT_FDCWD, path, Recursive::kNo);
  if (::setns(own_view_.get(), CLONE_NEWNS) != 0) return fail_errno("setns(own view)");
  if (!tree) return tl::unexpected(tree.error());
  BJ_TRY(const struct stat info, status_at(tree->get(), ""));
  if (const auto known = known_.find(path); known != known_.end()) {
    const Layer& layer = known->second;
    if (layer.device == info.st_dev && layer.inode == info.st_ino) return static_cast<int>(layer.number);
  }
  const unsigned number = free_.empty() ? layers_ : free_.back();
  const std::string place = "/layers/" + std::to_string(number);
  if (S_ISDIR(info.st_mode)) {
    BJ_CHECK(ensure_directory(AT_FDCWD, place, 0755));
  } else {
    BJ_CHECK(open_path(place, O_CREAT | O_WRONLY, 0644));
  }
  BJ_CHECK(attach_tree(tree->get(), place));
  known_[path] = {number, info.st_dev, info.st_ino};
  if (free_.empty()) {
    ++layers_;
  } else {
    free_.pop_back();
  }
  return static_cast<int>(number);
}

Result<int> Den::drop_layer(unsigned number) {
  if (number >= layers_ || std::find(free_.begin(), free_.end(), number) != free_.end())
    return fail(Code::kInvalid, "no such layer", EINVAL);
  const std::string place = "/layers/" + std::to_string(number);
  if (::umount2(place.c_str(), MNT_DETACH) != 0) return fail_errno("umount(" + place + ")");
  Result<void> removed = remove_directory(AT_FDCWD, place);
  if (!removed && removed.error().sys == ENOTDIR) removed = remove_file(AT_FDCWD, place);
  if (!removed) return tl::unexpected(removed.error());
  std::erase_if(known_, [number](const auto& one) { return one.second.number == number; });
  free_.push_back(number);
  return 0;
}

Result<Fd> Den::clone_layer(unsigned number, int idmap_to, Writable writable) const {
  if (number >= layers_) return fail(Code::kInvalid, "no such layer", EINVAL);
  BJ_TRY(Fd tree, clone_tree(AT_FDCWD, "/layers/" + std::to_string(number), Recursive::kNo));
  BJ_CHECK(shape(tree.get(), idmap_to, writable));
  return tree;
}

Result<void> Den::shape(int tree, int idmap_to, Writable writable) {
  uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  if (writable == Writable::kNo) attributes |= MOUNT_ATTR_RDONLY;
  return set_mount_attributes(tree, attributes, idmap_to);
}

Result<Fd> Den::clone_dev() const { return clone_tree(AT_FDCWD, "/dev", Recursive::kYes); }

}  // namespace bj
