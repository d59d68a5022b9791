// What is done to a name in a directory, and asked of it: one call each. No symlink that `name` itself is is followed.
// dir may be AT_FDCWD, then a name is a path.
#pragma once

#include <sys/stat.h>
#include <time.h>

#include <array>
#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

// All that make something fail with EEXIST if the name is taken.
Result<void> make_directory(int dir, const std::string& name, unsigned mode);
Result<void> make_device(int dir, const std::string& name, mode_t mode, dev_t device);
Result<void> make_symlink(const std::string& target, int dir, const std::string& name);
Result<void> make_link(int from_dir, const std::string& from, int to_dir, const std::string& to);
// Made and opened, with that mode whatever the umask is.
Result<Fd> new_directory(int dir, const std::string& name, unsigned mode);
// What has the name already, whatever it is, is left as it is.
Result<void> ensure_directory(int dir, const std::string& name, unsigned mode);

// A missing one is no failure.
Result<void> remove_file(int dir, const std::string& name);
// An empty one. Fails with ENOTDIR if it is something else.
Result<void> remove_directory(int dir, const std::string& name);
// flags: as renameat2(2) has them.
Result<void> rename_at(int dir, const std::string& from, const std::string& to, unsigned flags = 0);

// Of `dir` itself if the name is empty.
Result<struct stat> status_at(int dir, const std::string& name);
Result<void> change_owner(int dir, const std::string& name, uid_t uid, gid_t gid);
Result<void> change_mode(int dir, const std::string& name, unsigned mode);  // whatever the umask is
Result<void> change_times(int dir, const std::string& name, const std::array<timespec, 2>& times);

// Where a path leads, with no symlink left in it.
Result<std::string> real_path(const std::string& path);

}  // namespace bj
