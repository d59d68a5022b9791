// This process's own resource limits.
#pragma once

#include <sys/resource.h>

namespace bj {

// As many descriptors as we are allowed: a call in progress holds about ten, and the usual soft limit is 1024.
inline void raise_open_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace bj
