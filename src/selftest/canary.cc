#include "selftest/canary.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/file_lock.h"
#include "sys/files.h"

namespace bj::selftest {
namespace {

// False when another run removed the file between our open and our lock.
bool still_there(const char* path, const Fd& file) {
  struct stat ours{}, named{};
  return ::fstat(file.get(), &ours) == 0 && ::lstat(path, &named) == 0 && ours.st_ino == named.st_ino &&
         ours.st_dev == named.st_dev;
}

}  // namespace

Result<Canary> Canary::place(const char* path) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    BJ_TRY(Fd file, open_path(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    BJ_CHECK(lock_file(file.get(), Lock::kShared, path));
    if (!still_there(path, file)) continue;
    if (read_all(file.get(), 4096, path).value_or("") != kCanarySecret) {
      if (::ftruncate(file.get(), 0) != 0 || ::lseek(file.get(), 0, SEEK_SET) != 0) return fail_errno(path);
      BJ_CHECK(write_all(file.get(), kCanarySecret, path));
    }
    return Canary(path, std::move(file));
  }
  return fail(Code::kUnavailable, std::string(path) + " is being removed again and again");
}

Canary::~Canary() {
  if (lock_.ok() && try_lock_file(lock_.get(), Lock::kAlone, path_).value_or(false)) ::unlink(path_);
}

std::string Canary::harm() const {
  struct stat info{};
  if (::lstat(kEvilPath, &info) == 0) return std::string(kEvilPath) + " was made on the host";
  if (!still_there(path_, lock_)) return std::string(path_) + " was removed or replaced";
  if (read_file(path_, 4096).value_or("") != kCanarySecret) return std::string(path_) + " was changed";
  return {};
}

}  // namespace bj::selftest
