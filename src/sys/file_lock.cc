#include "sys/file_lock.h"

#include <sys/file.h>

namespace bj {
namespace {

int operation(Lock lock) { return lock == Lock::kAlone ? LOCK_EX : LOCK_SH; }

}  // namespace

Result<void> lock_file(int fd, Lock lock, const std::string& name) {
  while (::flock(fd, operation(lock)) != 0) {
    if (errno != EINTR) return fail_errno("flock(" + name + ")");
  }
  return {};
}

Result<bool> try_lock_file(int fd, Lock lock, const std::string& name) {
  if (::flock(fd, operation(lock) | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return fail_errno("flock(" + name + ")");
}

void unlock_file(int fd) { ::flock(fd, LOCK_UN); }

}  // namespace bj
