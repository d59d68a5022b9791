#include "engine/templates/usr_mask.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <set>
#include <vector>

#include "sys/files.h"
#include "sys/names.h"

namespace bj {
namespace {

bool hidden_from_others(const struct stat& info) {
  const mode_t needed = S_ISDIR(info.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
  return (info.st_mode & needed) != needed;
}

// Collects the paths to hide. What vanishes while we look (a package is being upgraded) is not there to be hidden.
Result<void> look(int dir, const std::string& path, std::vector<std::string>& hidden) {
  BJ_TRY(const auto entries, list_directory(dir));
  for (const Entry& entry : entries) {
    if (entry.type == DT_LNK) continue;
    const Result<struct stat> status = status_at(dir, entry.name);
    if (!status && status.error().sys == ENOENT) continue;
    if (!status) return fail_with(status.error().sys, "stat(" + path + entry.name + ")");
    const struct stat& info = *status;
    if (S_ISLNK(info.st_mode)) continue;
    if (hidden_from_others(info)) {
      hidden.push_back(path + entry.name);
    } else if (S_ISDIR(info.st_mode)) {
      const Result<Fd> below = open_at(dir, entry.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      if (!below && below.error().code == Code::kNotFound) continue;
      if (!below) return tl::unexpected(below.error());
      BJ_CHECK(look(below->get(), path + entry.name + "/", hidden));
    }
  }
  return {};
}

Result<void> make_whiteout(int mask, const std::string& path, std::set<std::string>& parents) {
  for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    if (!parents.insert(parent).second) continue;
    BJ_CHECK(make_directory(mask, parent, 0755));
  }
  return make_device(mask, path, S_IFCHR, makedev(0, 0));
}

Result<void> copy_looks(int tree, int mask, const std::string& path) {
  BJ_TRY(const struct stat info, status_at(tree, path));
  BJ_CHECK(change_owner(mask, path, info.st_uid, info.st_gid));
  BJ_CHECK(change_mode(mask, path, info.st_mode & 07777));
  return change_times(mask, path, {info.st_atim, info.st_mtim});
}

}  // namespace

Result<void> make_mask(int tree, const std::string& mask) {
  std::vector<std::string> hidden;
  BJ_CHECK(look(tree, "", hidden));
  if (hidden.empty()) return {};
  BJ_CHECK(make_directories(mask, 0755));
  BJ_TRY(const Fd top, open_path(mask, O_PATH | O_DIRECTORY));
  std::set<std::string> parents = {"."};
  for (const std::string& path : hidden) BJ_CHECK(make_whiteout(top.get(), path, parents));
  for (const std::string& path : parents) BJ_CHECK(copy_looks(tree, top.get(), path));
  return {};
}

}  // namespace bj
