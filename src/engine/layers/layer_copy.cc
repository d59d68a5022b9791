#include "engine/layers/layer_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "engine/import/import_entry.h"
#include "engine/layers/file_copier.h"
#include "engine/layers/layer_attributes.h"
#include "sys/directory.h"
#include "sys/files.h"
#include "sys/names.h"

namespace bj {
namespace {

constexpr uint64_t kCostOfEntry = 512;
constexpr uint64_t kAlwaysByOurselves = 64u << 10;  // smaller files are not worth handing over

class LayerCopy {
 public:
  LayerCopy(int links, const IdShift& ids, const LayerLimits& limits, const std::atomic<bool>* stop)
      : links_(links), ids_(ids), limits_(limits), copier_(limits.max_bytes, stop), stop_(stop) {}

  Result<LayerCounts> run(int from, int to) {
    BJ_TRY(const struct stat info, status_at(from, ""));
    device_ = info.st_dev;
    BJ_TRY(const Fd source, open_at(from, ".", O_RDONLY | O_DIRECTORY));
    BJ_TRY(const Fd copy, open_at(to, ".", O_RDONLY | O_DIRECTORY));
    Result<void> done = copy_directory(source, copy, info, "", 0);
    Result<uint64_t> bytes = copier_.finish();
    if (!done) return tl::unexpected(done.error());
    if (!bytes) return tl::unexpected(bytes.error());
    counts_.size_bytes = *bytes + counts_.entries * kCostOfEntry;
    return counts_;
  }

 private:
  // What is in it, then what it is: its times change with its contents.
  Result<void> copy_directory(const Fd& from, const Fd& to, const struct stat& info, const std::string& path,
                              unsigned depth) {
    if (depth > limits_.max_depth)
      return fail(Code::kInvalid, "what the sandbox has written lies too many directories deep");
    BJ_TRY(const auto entries, list_directory(from.get()));
    for (const Entry& entry : entries) {
      if (stop_ != nullptr && *stop_) return fail(Code::kUnavailable, "the copy was given up");
      if (++counts_.entries > limits_.max_entries)
        return fail(Code::kExhausted, "the sandbox has written more files than a layer may have");
      const Result<void> copied = copy_entry(from, to, entry.name, path, depth);
      if (!copied) return copied;
    }
    BJ_CHECK(named(path, copy_attributes(from.get(), to.get())));
    return named(path, copy_status(to.get(), info));
  }

  template <class T>
  static Result<T> named(const std::string& path, Result<T> result) {
    if (result) return result;
    return fail(result.error().code, "/" + printable(path) + ": " + result.error().what, result.error().sys);
  }

  Result<void> copy_entry(const Fd& from, const Fd& to, const std::string& name, const std::string& path,
                          unsigned depth) {
    const std::string own_path = path.empty() ? name : path + "/" + name;
    BJ_TRY(const struct stat seen, named(own_path, status_at(from.get(), name)));
    if (!S_ISDIR(seen.st_mode)) return named(own_path, copy_leaf(from, to, name, seen));
    BJ_CHECK(named(own_path, make_directory(to.get(), name, 0700)));
    BJ_TRY(const Fd source, named(own_path, open_at(from.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)));
    BJ_TRY(const Fd copy, named(own_path, open_at(to.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)));
    BJ_TRY(const struct stat info, named(own_path, status_at(source.get(), "")));
    if (info.st_dev != device_) return named<void>(own_path, fail(Code::kInvalid, "is another filesystem"));
    return copy_directory(source, copy, info, own_path, depth + 1);
  }

  Result<void> copy_leaf(const Fd& from, const Fd& to, const std::string& name, const struct stat& info) {
    if (S_ISREG(info.st_mode)) return copy_file(from, to, name, info);
    if (S_ISSOCK(info.st_mode)) {
      ++counts_.sockets_left_out;
      return {};
    }
    if (S_ISLNK(info.st_mode)) {
      BJ_TRY(const std::string target, link_text_at(from.get(), name));
      BJ_CHECK(make_symlink(target, to.get(), name));
      return copy_status_of_node(to, name, info);
    }
    if (S_ISFIFO(info.st_mode)) {
      BJ_CHECK(make_device(to.get(), name, S_IFIFO | 0600, 0));
      BJ_CHECK(change_mode(to.get(), name, info.st_mode & 07777));
      return copy_status_of_node(to, name, info);
    }
    const bool whiteout = S_ISCHR(info.st_mode) && info.st_rdev == 0;
    if (!whiteout) return fail(Code::kInvalid, "is a device");
    return make_device(to.get(), name, S_IFCHR, 0);
  }

  // The first name of a file with several is linked to its number in `links_`, the others to that.
  Result<void> copy_file(const Fd& from, const Fd& to, const std::string& name, const struct stat& seen) {
    const std::string number = std::to_string(seen.st_ino);
    if (seen.st_nlink > 1) {
      const Result<void> linked = make_link(links_, number, to.get(), name);
      if (linked) return {};
      if (linked.error().sys == EMLINK) BJ_CHECK(remove_file(links_, number));
    }
    BJ_TRY(Fd source, open_at(from.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    BJ_TRY(const struct stat info, status_at(source.get(), ""));
    if (!S_ISREG(info.st_mode)) return fail(Code::kInvalid, "changed meanwhile");
    BJ_TRY(Fd copy, open_at(to.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    if (seen.st_nlink > 1) BJ_CHECK(make_link(to.get(), name, links_, number));
    BJ_CHECK(copy_attributes(source.get(), copy.get()));
    BJ_CHECK(copy_status(copy.get(), info));
    CopyJob job{std::move(source),
                std::move(copy),
                static_cast<uint64_t>(info.st_size),
                info.st_mode & 07777,
                {info.st_atim, info.st_mtim}};
    return static_cast<uint64_t>(info.st_size) < kAlwaysByOurselves ? copier_.copy(job) : copier_.give(std::move(job));
  }

  Result<std::pair<uid_t, gid_t>> owner_of(const struct stat& info) const {
    const uint32_t uid = info.st_uid - ids_.first, gid = info.st_gid - ids_.first;
    if (uid >= ids_.count || gid >= ids_.count) return fail(Code::kInvalid, "belongs to nobody of the sandbox");
    return std::pair<uid_t, gid_t>(uid, gid);
  }

  // The owner first: a change of owner takes the set-user-id bit away.
  Result<void> copy_status(int fd, const struct stat& info) const {
    if (ids_.count != 0) {
      BJ_TRY(const auto owner, owner_of(info));
      BJ_CHECK(change_owner(fd, "", owner.first, owner.second));
    }
    BJ_CHECK(change_mode(fd, "", info.st_mode & 07777));
    return change_times(fd, "", {info.st_atim, info.st_mtim});
  }

  Result<void> copy_status_of_node(const Fd& dir, const std::string& name, const struct stat& info) const {
    if (ids_.count != 0) {
      BJ_TRY(const auto owner, owner_of(info));
      BJ_CHECK(change_owner(dir.get(), name, owner.first, owner.second));
    }
    return change_times(dir.get(), name, {info.st_atim, info.st_mtim});
  }

  Result<void> copy_attributes(int from, int to) {
    BJ_TRY(const uint64_t left_out, copy_layer_attributes(from, to));
    counts_.attributes_left_out += left_out;
    return {};
  }

  int links_;
  IdShift ids_;
  LayerLimits limits_;
  FileCopier copier_;
  const std::atomic<bool>* stop_;
  LayerCounts counts_;
  dev_t device_ = 0;
};

}  // namespace

Result<LayerCounts> copy_layer_tree(int from, int to, int links, const IdShift& ids, const LayerLimits& limits,
                                    const std::atomic<bool>* stop) {
  return LayerCopy(links, ids, limits, stop).run(from, to);
}

}  // namespace bj
