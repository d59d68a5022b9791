#include "sys/clone.h"

#include <linux/sched.h>
#include <signal.h>
#include <unistd.h>

#include "sys/raw.h"

namespace bj {

Cloned clone_process(uint64_t flags, int into) {
  int pidfd = -1;
  clone_args args{};
  args.flags = flags | CLONE_PIDFD;
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  if (into >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(into);
  }
  const long pid = raw::call(raw::kNrClone3, raw::address(&args), sizeof args);
  return {static_cast<int>(pid), pidfd};
}

Result<void> enter_new_namespaces(int flags) {
  if (::syscall(__NR_unshare, flags) != 0) return fail_errno("unshare");
  return {};
}

}  // namespace bj
