#include "sys/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/names.h"

namespace bj {

Result<Secret> read_private_file(const std::string& path, size_t limit) {
  BJ_TRY(const Fd file, open_path(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return fail_errno("fstat(" + path + ")");
  if (!S_ISREG(status.st_mode)) return fail(Code::kDenied, path + " is not a regular file");
  if ((status.st_mode & 077) != 0)
    return fail(Code::kDenied, path + " may be read by others than its owner: if nobody did, run chmod 600 " + path);
  BJ_TRY(std::string text, read_all(file.get(), limit, path));
  return Secret::take(std::move(text));
}

Result<void> write_private_file(const std::string& path, std::string_view text) {
  BJ_TRY(const Fd file, open_path(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  BJ_CHECK(write_all(file.get(), text, path));
  if (::fsync(file.get()) != 0) return fail_errno("fsync(" + path + ")");
  return {};
}

Result<void> name_once(const std::string& aside, const std::string& path) {
  Result<void> linked = make_link(AT_FDCWD, aside, AT_FDCWD, path);  // a rename would replace what is there
  ::unlink(aside.c_str());
  return !linked && linked.error().sys == EEXIST ? Result<void>() : linked;
}

}  // namespace bj
