#include "sys/pidfd.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "sys/wait.h"

namespace bj {
namespace {

struct Info {  // struct pidfd_info, which the build machine's headers lack
  uint64_t mask, cgroup;
  uint32_t ids[11];
  int32_t exit_code;
};
static_assert(sizeof(Info) == 64);
constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, Info);
constexpr uint64_t kExit = 1 << 3;

}  // namespace

void kill_process(int pidfd) { (void)::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0); }

bool wait_for_end(int pidfd, int timeout_ms) {
  pollfd process{pidfd, POLLIN, 0};
  return wait_for_events({&process, 1}, timeout_ms).value_or(1) != 0;  // one that can't be waited for is none
}

// Asked of another's child, waiting fails in one way if it is a pidfd and in another if it is not.
bool is_pidfd(int fd) {
  siginfo_t info{};
  return ::waitid(P_PIDFD, static_cast<id_t>(fd), &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno == ECHILD;
}

std::optional<int> exit_status_of(int pidfd) {
  Info info{};
  info.mask = kExit;
  if (::ioctl(pidfd, kGetInfo, &info) != 0 || (info.mask & kExit) == 0) return {};
  return info.exit_code;
}

}  // namespace bj
