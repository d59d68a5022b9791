#include "sys/wait.h"

#include <sys/wait.h>

namespace bj {

Result<size_t> wait_for_events(std::span<pollfd> fds, int timeout_ms) {
  for (;;) {
    const int count = ::poll(fds.data(), fds.size(), timeout_ms);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR) return fail_errno("poll");
  }
}

Result<siginfo_t> wait_for_child(int pid) {
  siginfo_t end{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &end, WEXITED) != 0) {
    if (errno != EINTR) return fail_errno("waitid");
  }
  return end;
}

}  // namespace bj
