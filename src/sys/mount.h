// The mount API by descriptor: trees are cloned and attached by who holds them, no path is resolved twice.
#pragma once

#include <linux/mount.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

enum class Recursive { kNo, kYes };

// A detached copy of the mount (tree) at `path`.
Result<Fd> clone_tree(int dir, const std::string& path, Recursive recursive);
Result<void> attach_tree(int tree, const std::string& path);
// Adds attributes to a detached mount; idmap_to: a user namespace whose ids the mount shows, or -1.
Result<void> set_mount_attributes(int tree, uint64_t attributes, int idmap_to);

using MountOption = std::pair<const char*, const char*>;  // a null value: a flag
Result<Fd> new_filesystem(const char* type, std::initializer_list<MountOption> options, uint64_t attributes);

// The filesystem itself, by whatever mount it is seen: who may change a mount's attributes can't undo it.
Result<void> make_filesystem_read_only(const std::string& path);

// What is mounted here or elsewhere from now on stays where it is.
Result<void> make_all_mounts_private();

// `path`, a mount point, becomes the root; `old` is a directory in it, empty again afterwards.
Result<void> enter_root(const std::string& path, const std::string& old);
// chroot(2): for a process that may not mount.
Result<void> chroot_into(const std::string& path);

}  // namespace bj
