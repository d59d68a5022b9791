#include "engine/layers/layer_join.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <string>

#include "engine/layers/layer_attributes.h"
#include "sys/files.h"
#include "sys/names.h"

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
    BJ_TRY(const struct stat info, status_at(from.get(), ""));
    BJ_CHECK(copy_layer_attributes(from.get(), onto.get()));
    if (::geteuid() == 0) BJ_CHECK(change_owner(onto.get(), "", info.st_uid, info.st_gid));
    BJ_CHECK(change_mode(onto.get(), "", info.st_mode & 07777));
    return change_times(onto.get(), "", {info.st_atim, info.st_mtim});
  }

 private:
  Result<void> join_entry(const Fd& from, const Fd& onto, const std::string& name, unsigned depth) {
    BJ_TRY(const struct stat above, status_at(from.get(), name));
    const Result<struct stat> below = status_at(onto.get(), name);
    if (!S_ISDIR(above.st_mode)) {
      if (below) BJ_CHECK(remove_tree(onto.get(), name));
      return make_link(from.get(), name, onto.get(), name);
    }
    const bool joins = below && S_ISDIR(below->st_mode);
    if (below && !joins) BJ_CHECK(remove_file(onto.get(), name));
    if (!joins) BJ_CHECK(make_directory(onto.get(), name, 0700));
    BJ_TRY(const Fd source, open_at(from.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    BJ_TRY(const Fd target, open_at(onto.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    // What was hidden below must stay so: by the directory itself, or by what it stands in the place of.
    const bool opaque = ::fgetxattr(source.get(), kOpaqueAttribute, nullptr, 0) >= 0;
    if (opaque && joins) BJ_CHECK(remove_contents(target));
    if (below && !joins) BJ_CHECK(make_opaque(target));
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
