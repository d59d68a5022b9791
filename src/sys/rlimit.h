// This process's own resource limits.
#pragma once

#include <sys/resource.h>

namespace bj {

// As many descriptors as we are allowed: a call in progress holds about ten, a sandbox that is kept up to a hundred,
// and the usual soft limit is 1024. Root may have more than its hard limit.
inline void raise_open_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  constexpr rlim_t kPlenty = 1 << 20;  // the kernel's own limit (fs.nr_open) unless it was changed
  const rlimit more{kPlenty, kPlenty};
  if (limit.rlim_max < kPlenty && ::setrlimit(RLIMIT_NOFILE, &more) == 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace bj
