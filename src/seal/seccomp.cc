#include "seal/seccomp.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <memory>
#include <vector>

namespace bj {
namespace {

using Names = std::initializer_list<const char*>;

// clang-format off: lists, not code
constexpr Names kFiles = {
    "read", "write", "open", "close", "stat", "fstat", "lstat", "lseek", "pread64", "pwrite64", "readv", "writev",
    "preadv", "pwritev", "preadv2", "pwritev2", "access", "faccessat", "faccessat2", "openat", "openat2", "creat",
    "newfstatat", "statx", "statfs", "fstatfs", "getdents", "getdents64", "getcwd", "chdir", "fchdir", "rename",
    "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "link", "linkat", "unlink", "unlinkat", "symlink",
    "symlinkat", "readlink", "readlinkat", "chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat",
    "umask", "truncate", "ftruncate", "fallocate", "sync_file_range",
    "flock", "fcntl", "ioctl", "dup", "dup2", "dup3", "pipe", "pipe2", "sendfile", "splice", "tee",
    "copy_file_range", "fadvise64", "readahead", "utime", "utimes", "utimensat", "futimesat", "mknod", "mknodat",
    "setxattr", "lsetxattr", "fsetxattr", "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr",
    "flistxattr", "removexattr", "lremovexattr", "fremovexattr", "chroot", "close_range"};

// Of one filesystem: a volume's, a mount's. Not sync, which writes out all of the host's; nobody looks at what it
// returns. Not for calls: all that they can write is gone with them, and what they read may lie on the host's disk.
constexpr Names kWritingOut = {"syncfs"};

// The same of one file: it flushes the host's disk, though it was opened for reading only and nothing changed. To a call
// they seem to succeed, as they do on all that it can write.
constexpr Names kWritingOutOneFile = {"fsync", "fdatasync"};

// Not for calls: those of one zygote have the same files below them, and would see which of them the others open.
constexpr Names kWatching = {"inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch"};

constexpr Names kMemory = {"mprotect", "munmap", "brk", "mremap", "msync", "mincore", "madvise", "mlock",
                           "mlock2", "munlock", "mlockall", "munlockall", "membarrier", "pkey_alloc", "pkey_free",
                           "pkey_mprotect", "shmat", "shmctl", "shmdt", "get_mempolicy"};

constexpr Names kProcesses = {
    "fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid", "kill", "tkill", "tgkill",
    "getpid", "getppid", "gettid", "getpgrp", "getpgid", "setpgid", "getsid", "setsid", "getuid", "getgid",
    "geteuid", "getegid", "setuid", "setgid", "setreuid", "setregid", "setresuid", "getresuid", "setresgid",
    "getresgid", "getgroups", "setgroups", "setfsuid", "setfsgid", "capget", "capset", "prctl", "arch_prctl",
    "getrlimit", "setrlimit", "prlimit64", "getrusage", "times", "getpriority", "setpriority", "sched_yield",
    "sched_getparam", "sched_setparam", "sched_getscheduler", "sched_setscheduler", "sched_get_priority_max",
    "sched_get_priority_min", "sched_rr_get_interval", "sched_getaffinity", "sched_setaffinity", "sched_getattr",
    "sched_setattr", "ioprio_get", "ioprio_set", "getcpu", "set_tid_address", "set_robust_list",
    "get_robust_list", "rseq", "futex", "futex_waitv", "pidfd_open", "pidfd_send_signal", "uname", "sysinfo",
    "getrandom", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "semget", "semop",
    "semctl", "semtimedop", "msgget", "msgsnd", "msgrcv", "msgctl", "restart_syscall"};

constexpr Names kSignalsAndTime = {
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigqueueinfo",
    "rt_tgsigqueueinfo", "rt_sigsuspend", "sigaltstack", "pause", "alarm", "nanosleep", "clock_nanosleep",
    "clock_gettime", "clock_getres", "gettimeofday", "time", "getitimer", "setitimer", "timer_create",
    "timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete", "timerfd_create", "timerfd_settime",
    "timerfd_gettime", "signalfd", "signalfd4", "eventfd", "eventfd2", "poll", "ppoll", "select", "pselect6",
    "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2"};

constexpr Names kSockets = {"connect", "accept", "accept4", "bind", "listen", "sendto", "recvfrom", "sendmsg",
                            "recvmsg", "sendmmsg", "recvmmsg", "shutdown", "getsockname", "getpeername",
                            "setsockopt", "getsockopt"};

// What a zygote's C code does to seal a child; the child loads the profile of calls on top.
constexpr Names kSealing = {"unshare", "setns", "mount", "umount2", "pivot_root", "sethostname", "open_tree",
                            "move_mount", "fsopen", "fsconfig", "fsmount", "mount_setattr", "seccomp", "clone"};

// clang-format on

constexpr uint32_t kNamespaceFlags = 0x7E020000;  // every CLONE_NEW* that clone() takes
constexpr uint32_t kFirstUnlisted = 451;          // calls newer than the list: "not there", so that libraries fall back

using Context = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

// A name that libseccomp doesn't know stays denied.
void allow(const Context& context, Names names) {
  for (const char* name : names) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number >= 0) seccomp_rule_add(context.get(), SCMP_ACT_ALLOW, number, 0);
  }
}

// Of the internet's protocols and types only those that everybody needs: the others are kernel modules that the first
// socket loads, or is made of if they are there.
void allow_sockets(const Context& context) {
  allow(context, kSockets);
  constexpr uint64_t kWhole = 0xFFFFFFFFu;  // the kernel looks at 32 bits of each
  constexpr uint64_t kRareTypes = 0xC;      // SOCK_STREAM, SOCK_DGRAM and SOCK_RAW have none of these bits
  for (const unsigned family : {AF_INET, AF_INET6}) {
    for (const int protocol :
         std::initializer_list<int>{IPPROTO_IP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_ICMPV6}) {
      seccomp_rule_add(context.get(), SCMP_ACT_ALLOW, SCMP_SYS(socket), 3, SCMP_A0(SCMP_CMP_MASKED_EQ, kWhole, family),
                       SCMP_A1(SCMP_CMP_MASKED_EQ, kRareTypes, 0),
                       SCMP_A2(SCMP_CMP_MASKED_EQ, kWhole, static_cast<unsigned>(protocol)));
    }
  }
  seccomp_rule_add(context.get(), SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
                   SCMP_A0(SCMP_CMP_MASKED_EQ, kWhole, static_cast<unsigned>(AF_UNIX)));
  seccomp_rule_add(context.get(), SCMP_ACT_ALLOW, SCMP_SYS(socketpair), 1,
                   SCMP_A0(SCMP_CMP_MASKED_EQ, 0xFFFFFFFFu, static_cast<unsigned>(AF_UNIX)));
}

// No huge pages: the host set them aside for somebody, and memory cgroups don't count them.
void allow_ordinary_pages(const Context& context) {
  constexpr uint64_t kShmHuge = 04000;
  seccomp_rule_add(context.get(), SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_HUGETLB, 0));
  seccomp_rule_add(context.get(), SCMP_ACT_ALLOW, SCMP_SYS(memfd_create), 1,
                   SCMP_A1(SCMP_CMP_MASKED_EQ, MFD_HUGETLB, 0));
  seccomp_rule_add(context.get(), SCMP_ACT_ALLOW, SCMP_SYS(shmget), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, kShmHuge, 0));
}

void pretend(const Context& context, Names names) {
  for (const char* name : names) {
    seccomp_rule_add(context.get(), SCMP_ACT_ERRNO(0), seccomp_syscall_resolve_name(name), 0);
  }
}

void allow_threads(const Context& context) {
  seccomp_rule_add(context.get(), SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, kNamespaceFlags, 0));
}

void allow_default_personality(const Context& context) {
  for (const unsigned value : {0u, 0xFFFFFFFFu}) {
    seccomp_rule_add(context.get(), SCMP_ACT_ALLOW, SCMP_SYS(personality), 1, SCMP_A0(SCMP_CMP_EQ, value, 0));
  }
}

std::string exported(const Context& context) {
  const int fd = memfd_create("seccomp", MFD_CLOEXEC);
  std::string program;
  if (fd >= 0 && seccomp_export_bpf(context.get(), fd) == 0) {
    program.resize(static_cast<size_t>(lseek(fd, 0, SEEK_END)));
    if (pread(fd, program.data(), program.size(), 0) != static_cast<ssize_t>(program.size())) program.clear();
  }
  close(fd);
  return program;
}

constexpr uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr uint32_t kUnknown = SECCOMP_RET_ERRNO | EINVAL;
constexpr uint32_t kNotThere = SECCOMP_RET_ERRNO | ENOSYS;
constexpr uint32_t kNoProtocol = SECCOMP_RET_ERRNO | EPROTONOSUPPORT;
constexpr uint32_t kPretend = SECCOMP_RET_ERRNO;

// The halves of a call's argument, as offsets into what a filter sees.
constexpr uint32_t low(uint32_t argument) { return offsetof(seccomp_data, args) + 8ul * argument; }
constexpr uint32_t high(uint32_t argument) { return low(argument) + 4; }

// One of the values is at the offset.
struct Condition {
  uint32_t offset;
  std::vector<uint32_t> values;
};

// What a call is answered if all of the conditions hold; the first exception that fits decides.
struct Exception {
  uint32_t call;
  std::vector<Condition> when;
  uint32_t answer;
};

// Of calls that are allowed otherwise, or refused with another error. Only the lower halves are compared where the
// kernel looks at no more.
std::vector<Exception> exceptions() {
  constexpr uint32_t kIoctl = 16, kMadvise = 28, kSocket = 41, kSetsockopt = 54, kFcntl = 72, kPrctl = 157,
                     kSetrlimit = 160, kFadvise = 221, kPrlimit = 302;
  constexpr uint32_t kSignedSegments = 38;                   // TCP_AO_ADD_KEY
  constexpr uint32_t kFlowLabels = 32;                       // IPV6_FLOWLABEL_MGR
  constexpr uint32_t kCold = 20, kPageOut = 21;              // MADV_COLD, MADV_PAGEOUT
  constexpr uint32_t kScheduleCore = 62, kMemoryMerge = 67;  // PR_SCHED_CORE, PR_SET_MEMORY_MERGE
  return {
      {kIoctl, {{low(1), {TIOCSTI, TIOCLINUX}}}, kRefuse},  // they type into a terminal
      // They make the host's kernel load a module, whoever asks.
      {kIoctl,
       {{low(1),
         {TIOCSETD, SIOCGIFBR, SIOCSIFBR, SIOCBRADDBR, SIOCBRDELBR, SIOCBRADDIF, SIOCBRDELIF, SIOCGIFVLAN,
          SIOCSIFVLAN}}},
       kRefuse},
      // As in a kernel without audit: useradd and its kin go on without it, at any other refusal they end.
      {kSocket, {{low(0), {AF_NETLINK}}, {low(2), {NETLINK_AUDIT}}}, kNoProtocol},
      // Filters of one's own are compiled into a room that the whole machine has once: where it is full, no other
      // sandbox could be sealed. The second as in a kernel that is built without.
      {kSetsockopt,
       {{low(1), {SOL_SOCKET}},
        {low(2), {SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF}}},
       kRefuse},
      {kPrctl, {{low(0), {PR_SET_SECCOMP}}}, kUnknown},
      // Pages that are merged with equal ones of others tell by the time of a write what those hold. As in a kernel
      // that is built without.
      {kMadvise, {{low(2), {MADV_MERGEABLE}}}, kUnknown},
      {kPrctl, {{low(0), {kMemoryMerge}}}, kUnknown},
      // Who shares a core with nobody takes the other half of it from everybody, for nothing. Likewise.
      {kPrctl, {{low(0), {kScheduleCore}}}, kUnknown},
      // They throw what the machine has read of its files out of memory, template files that all have in common: others
      // wait for the disk, and by that tell what they read. Hints, which a kernel may pass over.
      {kMadvise, {{low(2), {kCold, kPageOut}}}, kPretend},
      {kFadvise, {{low(3), {POSIX_FADV_DONTNEED}}}, kPretend},
      // Cryptography in the kernel: TLS, signed segments (with algorithms by name, as AF_ALG has them), IPsec.
      {kSetsockopt, {{low(1), {SOL_TCP}}, {low(2), {TCP_ULP, TCP_MD5SIG, TCP_MD5SIG_EXT, kSignedSegments}}}, kRefuse},
      // A UDP socket answers to both levels.
      {kSetsockopt, {{low(1), {SOL_UDP, IPPROTO_UDPLITE}}, {low(2), {UDP_ENCAP}}}, kRefuse},
      // The whole machine has 4096 of them.
      {kSetsockopt, {{low(1), {SOL_IPV6}}, {low(2), {kFlowLabels}}}, kRefuse},
      // At every value but ours the kernel may start the host's program for dumps: a change seems to succeed.
      {kSetrlimit, {{low(0), {RLIMIT_CORE}}}, kPretend},
      {kPrlimit, {{low(1), {RLIMIT_CORE}}, {low(2), {0}}, {high(2), {0}}}, SECCOMP_RET_ALLOW},  // only asks
      {kPrlimit, {{low(1), {RLIMIT_CORE}}}, kPretend},
      // A socket that lingers holds up whoever closes it last, and a descriptor that was sent is closed by who receives
      // it: the warden, the engine. None does, whatever it is told; for who asks that it should not, nothing changes.
      {kSetsockopt, {{low(1), {SOL_SOCKET}}, {low(2), {SO_LINGER}}}, kPretend},
      // See kWatching. A lease, even on a file of a read-only mount, holds up whoever opens it on the host.
      {kFcntl, {{low(1), {F_NOTIFY, F_SETLEASE}}}, kUnknown},
  };
}

using Code = std::vector<sock_filter>;

size_t size_of(const Exception& exception) {
  size_t size = 1;
  for (const Condition& condition : exception.when) size += 1 + condition.values.size();
  return size;
}

// Ends with the answer, or behind its last instruction.
Code code_of(const Exception& exception) {
  Code code;
  const size_t size = size_of(exception);
  for (const Condition& condition : exception.when) {
    code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, condition.offset));
    for (size_t left = condition.values.size(); left > 0; --left) {
      const uint32_t value = condition.values[condition.values.size() - left];
      const size_t otherwise = left > 1 ? 0 : size - code.size() - 1;
      code.push_back(
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, static_cast<uint8_t>(left - 1), static_cast<uint8_t>(otherwise)));
    }
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, exception.answer));
  return code;
}

// Runs before libseccomp's program, for what it can't say whatever the upper half of a register holds. Calls newer than
// the list are "not there". What is decided nowhere goes on behind the last instruction.
std::string prologue() {
  constexpr uint32_t kX32 = 0x40000000;
  const sock_filter onward = BPF_STMT(BPF_JMP | BPF_JA, 0);  // its distance is set when all is there
  Code code = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      onward,
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1),
      onward,
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFirstUnlisted, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kNotThere),
  };
  std::map<uint32_t, Code> by_call;
  for (const Exception& exception : exceptions()) {
    const Code one = code_of(exception);
    Code& all = by_call[exception.call];
    all.insert(all.end(), one.begin(), one.end());
  }
  for (const auto& [call, block] : by_call) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, static_cast<uint8_t>(block.size() + 1)));
    code.insert(code.end(), block.begin(), block.end());
    code.push_back(onward);
  }
  for (size_t at = 0; at < code.size(); ++at) {
    if (code[at].code == (BPF_JMP | BPF_JA)) code[at].k = static_cast<uint32_t>(code.size() - at - 1);
  }
  return {reinterpret_cast<const char*>(code.data()), code.size() * sizeof(sock_filter)};
}

std::string compile(SyscallProfile profile) {
  const Context context(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release);
  if (!context) return {};
  seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a binary tree: loads twice as fast as a list
  for (const Names& names : {kFiles, kMemory, kProcesses, kSignalsAndTime}) allow(context, names);
  allow_sockets(context);
  allow_ordinary_pages(context);
  allow_default_personality(context);
  if (profile == SyscallProfile::kCall) {
    pretend(context, kWritingOutOneFile);
  } else {
    for (const Names& names : {kWatching, kWritingOut, kWritingOutOneFile}) allow(context, names);
  }
  if (profile == SyscallProfile::kZygote) {
    allow(context, kSealing);
    seccomp_rule_add(context.get(), SCMP_ACT_ALLOW, SCMP_SYS(clone3), 0);
  } else {
    allow_threads(context);
    seccomp_rule_add(context.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  }
  const std::string program = exported(context);
  return program.empty() ? program : prologue() + program;  // empty: the plan's seccomp step fails, nothing runs
}

}  // namespace

const std::string& seccomp_program(SyscallProfile profile) {
  static const std::string tool = compile(SyscallProfile::kTool);
  static const std::string call = compile(SyscallProfile::kCall);
  static const std::string zygote = compile(SyscallProfile::kZygote);
  switch (profile) {
    case SyscallProfile::kTool: return tool;
    case SyscallProfile::kCall: return call;
    case SyscallProfile::kZygote: break;
  }
  return zygote;
}

}  // namespace bj
