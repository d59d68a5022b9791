#include "engine/layers/layer_join.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <string>

#include "engine/layers/layer_attributes.h"
#include "sys/files.h"

namespace bj {
namespace {

Result<void> make_opaque(const Fd& dir) {
  if (::fsetxattr(dir.get(), kOpaqueAttribute, "y", 1, 0) != 0) return fail_errno("setxattr(opaque)");
  return {};
}

Result<void> remove_contents(const Fd& dir) {
  BJ_TRY(const auto entries, list_directory(dir.get()));
  for (const Entry& entry : entries) BJ_CHECK(remove_tree(dir.get(), entry.name));
  return {};
}

class LayerJoin {
 public:
  explicit LayerJoin(const LayerLimits& limits) : limits_(limits) {}

  Result<void> join_directory(const Fd& from, const Fd& onto, unsigned depth) {
    if (depth > limits_.max_depth) return fail(Code::kInvalid, "the layers lie too many directories deep");
    BJ_TRY(const auto entries, list_directory(from.get()));
    for (const Entry& entry : entries) BJ_CHECK(join_entry(from, onto, entry.name, depth));
    struct stat info{};
    if (::fstat(from.get(), &info) != 0) return fail_errno("fstat(layer)");
    BJ_CHECK(copy_layer_attributes(from.get(), onto.get()));
    if (::geteuid() == 0 && ::fchown(onto.get(), info.st_uid, info.st_gid) != 0) return fail_errno("chown(layer)");
    if (::fchmod(onto.get(), info.st_mode & 07777) != 0) return fail_errno("chmod(layer)");
    const std::array<timespec, 2> times{info.st_atim, info.st_mtim};
    if (::futimens(onto.get(), times.data()) != 0) return fail_errno("utimens(layer)");
    return {};
  }

 private:
  Result<void> join_entry(const Fd& from, const Fd& onto, const std::string& name, unsigned depth) {
    struct stat above{}, below{};
    if (::fstatat(from.get(), name.c_str(), &above, AT_SYMLINK_NOFOLLOW) != 0) return fail_errno("stat(layer)");
    const bool there = ::fstatat(onto.get(), name.c_str(), &below, AT_SYMLINK_NOFOLLOW) == 0;
    if (!S_ISDIR(above.st_mode)) {
      if (there) BJ_CHECK(remove_tree(onto.get(), name));
      if (::linkat(from.get(), name.c_str(), onto.get(), name.c_str(), 0) != 0) return fail_errno("link(layer)");
      return {};
    }
    const bool joins = there && S_ISDIR(below.st_mode);
    if (there && !joins && ::unlinkat(onto.get(), name.c_str(), 0) != 0) return fail_errno("unlink(layer)");
    if (!joins && ::mkdirat(onto.get(), name.c_str(), 0700) != 0) return fail_errno("mkdir(layer)");
    BJ_TRY(const Fd source, open_at(from.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    BJ_TRY(const Fd target, open_at(onto.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    // What was hidden below must stay so: by the directory itself, or by what it stands in the place of.
    const bool opaque = ::fgetxattr(source.get(), kOpaqueAttribute, nullptr, 0) >= 0;
    if (opaque && joins) BJ_CHECK(remove_contents(target));
    if (there && !joins) BJ_CHECK(make_opaque(target));
    return join_directory(source, target, depth + 1);
  }

  LayerLimits limits_;
};

}  // namespace

Result<void> join_layer_tree(int from, int onto, const LayerLimits& limits) {
  BJ_TRY(const Fd source, open_at(from, ".", O_RDONLY | O_DIRECTORY));
  BJ_TRY(const Fd target, open_at(onto, ".", O_RDONLY | O_DIRECTORY));
  return LayerJoin(limits).join_directory(source, target, 0);
}

}  // namespace bj
