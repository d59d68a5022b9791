// One more descriptor of what another one shows, close-on-exec: whoever is to hold it longer than its owner.
#pragma once

#include <fcntl.h>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

inline Result<Fd> duplicate(int fd) {
  Fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy.ok()) return fail_errno("fcntl(F_DUPFD_CLOEXEC)");
  return copy;
}

}  // namespace bj
