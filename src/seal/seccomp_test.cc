#include "seal/seccomp.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace bj {
namespace {

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr uint32_t kUnknown = SECCOMP_RET_ERRNO | EINVAL;
constexpr uint32_t kPretend = SECCOMP_RET_ERRNO;
constexpr uint32_t kNotThere = SECCOMP_RET_ERRNO | ENOSYS;
constexpr uint32_t kNoProtocol = SECCOMP_RET_ERRNO | EPROTONOSUPPORT;
constexpr uint32_t kKill = SECCOMP_RET_KILL_PROCESS;
constexpr uint32_t kBroken = 0xdead;  // the interpreter's own verdict: the program is not one
constexpr int kX32 = 0x40000000;
constexpr uint64_t kGarbage = 0xdeadbeef'00000000;  // the upper half of a register, which the kernel ignores in an int

// Calls that the C library's headers may not know yet.
constexpr int kOpenTree = 428, kMoveMount = 429, kFsopen = 430, kFsconfig = 431, kFsmount = 432, kFspick = 433;
constexpr int kClone3 = 435, kPidfdGetfd = 438, kProcessMadvise = 440, kMountSetattr = 442;

std::vector<sock_filter> instructions(SyscallProfile profile) {
  const std::string& program = seccomp_program(profile);
  std::vector<sock_filter> code(program.size() / sizeof(sock_filter));
  std::memcpy(code.data(), program.data(), code.size() * sizeof(sock_filter));
  return code;
}

// Classic BPF, as far as a seccomp filter made by libseccomp uses it.
class Machine {
 public:
  explicit Machine(SyscallProfile profile) : code_(instructions(profile)) {}

  uint32_t run(const seccomp_data& data) const {
    uint32_t accumulator = 0;
    for (size_t at = 0; at < code_.size(); ++at) {
      const sock_filter& now = code_[at];
      switch (now.code) {
        case BPF_LD | BPF_W | BPF_ABS:
          if (now.k % 4 != 0 || now.k + 4 > sizeof data) return kBroken;
          std::memcpy(&accumulator, reinterpret_cast<const char*>(&data) + now.k, 4);
          break;
        case BPF_ALU | BPF_AND | BPF_K: accumulator &= now.k; break;
        case BPF_JMP | BPF_JA: at += now.k; break;
        case BPF_JMP | BPF_JEQ | BPF_K: at += accumulator == now.k ? now.jt : now.jf; break;
        case BPF_JMP | BPF_JGT | BPF_K: at += accumulator > now.k ? now.jt : now.jf; break;
        case BPF_JMP | BPF_JGE | BPF_K: at += accumulator >= now.k ? now.jt : now.jf; break;
        case BPF_JMP | BPF_JSET | BPF_K: at += (accumulator & now.k) != 0 ? now.jt : now.jf; break;
        case BPF_RET | BPF_K: return now.k;
        default: return kBroken;
      }
    }
    return kBroken;
  }

 private:
  std::vector<sock_filter> code_;
};

uint32_t verdict(int number, const std::vector<uint64_t>& arguments = {},
                 SyscallProfile profile = SyscallProfile::kTool, uint32_t architecture = AUDIT_ARCH_X86_64) {
  seccomp_data data{};
  data.nr = number;
  data.arch = architecture;
  for (size_t i = 0; i < arguments.size(); ++i) data.args[i] = arguments[i];
  return Machine(profile).run(data);
}

uint32_t zygote_verdict(int number) { return verdict(number, {}, SyscallProfile::kZygote); }

TEST(SeccompTest, TheProgramIsWholeAndEveryJumpStaysInside) {
  for (const SyscallProfile profile : {SyscallProfile::kTool, SyscallProfile::kCall, SyscallProfile::kZygote}) {
    ASSERT_GT(seccomp_program(profile).size(), 0u);
    ASSERT_EQ(seccomp_program(profile).size() % sizeof(sock_filter), 0u);
    const auto code = instructions(profile);
    ASSERT_LE(code.size(), 4096u);
    for (size_t i = 0; i < code.size(); ++i) {
      if (BPF_CLASS(code[i].code) != BPF_JMP) continue;
      const size_t farthest = BPF_OP(code[i].code) == BPF_JA ? code[i].k : std::max(code[i].jt, code[i].jf);
      EXPECT_LT(i + 1 + farthest, code.size());
    }
    EXPECT_EQ(BPF_CLASS(code.back().code), BPF_RET);
  }
}

TEST(SeccompTest, EveryNumberHasAVerdict) {
  for (int number = 0; number < 700; ++number) {
    EXPECT_NE(verdict(number), kBroken) << number;
    EXPECT_NE(zygote_verdict(number), kBroken) << number;
  }
}

TEST(SeccompTest, NobodyWritesOutTheHostsFilesystems) {
  for (const SyscallProfile profile : {SyscallProfile::kTool, SyscallProfile::kCall}) {
    EXPECT_EQ(verdict(SYS_sync, {}, profile), kRefuse);
  }
  EXPECT_EQ(verdict(SYS_syncfs, {}, SyscallProfile::kTool), kAllow);
  EXPECT_EQ(verdict(SYS_syncfs, {}, SyscallProfile::kCall), kRefuse);
  for (const int one_file : {SYS_fsync, SYS_fdatasync}) {
    EXPECT_EQ(verdict(one_file, {}, SyscallProfile::kTool), kAllow);
    EXPECT_EQ(verdict(one_file, {}, SyscallProfile::kZygote), kAllow);
    EXPECT_EQ(verdict(one_file, {}, SyscallProfile::kCall), kPretend);
  }
}

TEST(SeccompTest, FlowLabelsAreTheMachines) {
  constexpr uint64_t kFlowLabels = 32, kTrafficClass = 67;
  EXPECT_EQ(verdict(SYS_setsockopt, {3, SOL_IPV6, kFlowLabels}), kRefuse);
  EXPECT_EQ(verdict(SYS_setsockopt, {3, SOL_IPV6, kTrafficClass}), kAllow);
}

TEST(SeccompTest, MemoryIsNotMergedWithThatOfOthers) {
  constexpr int kMemoryMerge = 67;
  for (const SyscallProfile profile : {SyscallProfile::kTool, SyscallProfile::kCall, SyscallProfile::kZygote}) {
    EXPECT_EQ(verdict(SYS_madvise, {0, 4096, MADV_MERGEABLE | kGarbage}, profile), kUnknown);
    EXPECT_EQ(verdict(SYS_prctl, {kMemoryMerge, 1}, profile), kUnknown);
  }
}

TEST(SeccompTest, NobodyKeepsACoreForHimself) {
  constexpr int kScheduleCore = 62;
  EXPECT_EQ(verdict(SYS_prctl, {kScheduleCore, 1}), kUnknown);
}

TEST(SeccompTest, WhatTheMachineHasReadStaysInItsMemory) {
  constexpr int kCold = 20, kPageOut = 21;
  for (const SyscallProfile profile : {SyscallProfile::kTool, SyscallProfile::kCall, SyscallProfile::kZygote}) {
    EXPECT_EQ(verdict(SYS_fadvise64, {3, 0, 0, POSIX_FADV_DONTNEED}, profile), kPretend);
    EXPECT_EQ(verdict(SYS_fadvise64, {3, 0, 0, POSIX_FADV_WILLNEED}, profile), kAllow);
    for (const int advice : {kCold, kPageOut}) {
      EXPECT_EQ(verdict(SYS_madvise, {0, 4096, static_cast<uint64_t>(advice)}, profile), kPretend);
    }
    EXPECT_EQ(verdict(SYS_madvise, {0, 4096, MADV_DONTNEED}, profile), kAllow);
  }
}

TEST(SeccompTest, NoSocketLingers) {
  for (const SyscallProfile profile : {SyscallProfile::kTool, SyscallProfile::kCall, SyscallProfile::kZygote}) {
    EXPECT_EQ(verdict(SYS_setsockopt, {3, SOL_SOCKET, SO_LINGER}, profile), kPretend);
    EXPECT_EQ(verdict(SYS_setsockopt, {3, SOL_SOCKET, SO_REUSEADDR}, profile), kAllow);
  }
}

TEST(SeccompTest, WhatOrdinaryProgramsDoIsAllowed) {
  for (const int number :
       {SYS_read,         SYS_write,      SYS_openat, SYS_close,     SYS_mmap,          SYS_mprotect,
        SYS_futex,        SYS_execve,     SYS_fork,   SYS_vfork,     SYS_wait4,         SYS_exit_group,
        SYS_rt_sigaction, SYS_epoll_wait, SYS_poll,   SYS_getrandom, SYS_statx,         SYS_rseq,
        SYS_pipe2,        SYS_connect,    SYS_bind,   SYS_rename,    SYS_inotify_init1, SYS_timerfd_create,
        SYS_memfd_create, SYS_prlimit64,  SYS_sysinfo}) {
    EXPECT_EQ(verdict(number), kAllow) << number;
  }
}

TEST(SeccompTest, AThreadMayBeMade) {
  constexpr uint64_t kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                               CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  EXPECT_EQ(verdict(SYS_clone, {kThread}), kAllow);
  EXPECT_EQ(verdict(SYS_clone, {CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | 17}), kAllow);  // fork() of the C library
  EXPECT_EQ(verdict(SYS_clone, {CLONE_VM | CLONE_VFORK | 17}), kAllow);
}

TEST(SeccompTest, ACloneThatMakesANamespaceIsRefusedWhateverElseItAsks) {
  for (const uint64_t flag :
       {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET}) {
    EXPECT_EQ(verdict(SYS_clone, {flag}), kRefuse) << std::hex << flag;
    EXPECT_EQ(verdict(SYS_clone, {flag | CLONE_VM | 17}), kRefuse) << std::hex << flag;
    EXPECT_EQ(verdict(SYS_clone, {flag | kGarbage}), kRefuse) << std::hex << flag;
  }
}

// Its flags lie in memory, where a filter can't look: libraries fall back to clone.
TEST(SeccompTest, Clone3IsNotThereForATool) {
  EXPECT_EQ(verdict(kClone3), kNotThere);
  EXPECT_EQ(zygote_verdict(kClone3), kAllow);
}

TEST(SeccompTest, NamespacesAndMountsAreRefused) {
  for (const int number :
       {SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, kOpenTree, kMoveMount, kFsopen, kFsconfig,
        kFsmount, kFspick, kMountSetattr, static_cast<int>(SYS_sethostname), static_cast<int>(SYS_setdomainname)}) {
    EXPECT_EQ(verdict(number), kRefuse) << number;
  }
}

TEST(SeccompTest, ReachingIntoOtherProcessesIsRefused) {
  for (const int number : {static_cast<int>(SYS_ptrace), static_cast<int>(SYS_process_vm_readv),
                           static_cast<int>(SYS_process_vm_writev), static_cast<int>(SYS_kcmp), kPidfdGetfd,
                           kProcessMadvise, static_cast<int>(SYS_move_pages), static_cast<int>(SYS_migrate_pages)}) {
    EXPECT_EQ(verdict(number), kRefuse) << number;
    EXPECT_EQ(zygote_verdict(number), kRefuse) << number;
  }
}

TEST(SeccompTest, OpeningFilesByHandleIsRefused) {
  EXPECT_EQ(verdict(SYS_open_by_handle_at), kRefuse);
  EXPECT_EQ(verdict(SYS_name_to_handle_at), kRefuse);
}

TEST(SeccompTest, KernelSurfaceThatToolsDoNotNeedIsRefusedForZygotesToo) {
  for (const int number :
       {SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_io_uring_setup,
        SYS_io_uring_enter, SYS_io_uring_register, SYS_fanotify_init, SYS_vmsplice, SYS_lookup_dcookie, SYS_quotactl,
        SYS_modify_ldt, SYS_iopl, SYS_ioperm, SYS_set_mempolicy, SYS_mbind}) {
    EXPECT_EQ(verdict(number), kRefuse) << number;
    EXPECT_EQ(zygote_verdict(number), kRefuse) << number;
  }
}

TEST(SeccompTest, AdministrationOfTheMachineIsRefusedForZygotesToo) {
  for (const int number : {SYS_kexec_load, SYS_kexec_file_load, SYS_init_module, SYS_finit_module, SYS_delete_module,
                           SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_syslog, SYS_settimeofday,
                           SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_vhangup}) {
    EXPECT_EQ(verdict(number), kRefuse) << number;
    EXPECT_EQ(zygote_verdict(number), kRefuse) << number;
  }
}

TEST(SeccompTest, OnlyUnixAndInternetSocketsCanBeMade) {
  for (const uint64_t family : {AF_UNIX, AF_INET, AF_INET6}) {
    EXPECT_EQ(verdict(SYS_socket, {family, SOCK_STREAM, 0}), kAllow) << family;
    EXPECT_EQ(verdict(SYS_socket, {family | kGarbage, SOCK_STREAM, 0}), kAllow) << family;
  }
  for (const uint64_t family :
       {AF_ALG, AF_NETLINK, AF_PACKET, AF_VSOCK, AF_BLUETOOTH, AF_CAN, AF_TIPC, AF_RDS, AF_KEY, AF_XDP, AF_UNSPEC}) {
    EXPECT_EQ(verdict(SYS_socket, {family, SOCK_RAW, 0}), kRefuse) << family;
    EXPECT_EQ(verdict(SYS_socket, {family | kGarbage, SOCK_RAW, 0}), kRefuse) << family;
    EXPECT_EQ(verdict(SYS_socketpair, {family, SOCK_RAW, 0}), kRefuse) << family;
  }
  EXPECT_EQ(verdict(SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0}), kAllow);
}

// useradd, groupadd and usermod end where it is refused otherwise.
TEST(SeccompTest, TheKernelsAuditIsRefusedAsWhereThereIsNone) {
  for (const SyscallProfile profile : {SyscallProfile::kTool, SyscallProfile::kCall, SyscallProfile::kZygote}) {
    for (const uint64_t type : {SOCK_RAW + 0, SOCK_RAW | SOCK_CLOEXEC, SOCK_DGRAM + 0}) {
      EXPECT_EQ(verdict(SYS_socket, {AF_NETLINK, type, NETLINK_AUDIT}, profile), kNoProtocol);
      EXPECT_EQ(verdict(SYS_socket, {AF_NETLINK | kGarbage, type, NETLINK_AUDIT | kGarbage}, profile), kNoProtocol);
    }
    for (uint64_t protocol = 0; protocol < 32; ++protocol) {
      if (protocol == NETLINK_AUDIT) continue;
      EXPECT_EQ(verdict(SYS_socket, {AF_NETLINK, SOCK_RAW, protocol}, profile), kRefuse) << protocol;
    }
    for (const uint64_t family : {AF_INET, AF_PACKET, AF_ALG})
      EXPECT_EQ(verdict(SYS_socket, {family, SOCK_RAW, NETLINK_AUDIT}, profile), kRefuse) << family;
  }
}

// SOCK_SEQPACKET is SCTP and type 6 is DCCP where those are loaded, and loads them where it can, without being named.
TEST(SeccompTest, TypesOfSocketsThatOtherProtocolsHaveAreRefused) {
  for (const uint64_t family : {AF_INET, AF_INET6}) {
    for (const uint64_t type : {SOCK_RDM, SOCK_SEQPACKET, SOCK_DCCP, SOCK_PACKET}) {
      EXPECT_EQ(verdict(SYS_socket, {family, type, 0}), kRefuse) << type;
      EXPECT_EQ(verdict(SYS_socket, {family, type | SOCK_CLOEXEC | kGarbage, 0}), kRefuse) << type;
    }
    EXPECT_EQ(verdict(SYS_socket, {family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP}), kAllow);
    EXPECT_EQ(verdict(SYS_socket, {family, SOCK_DGRAM, IPPROTO_UDP}), kAllow);
  }
  EXPECT_EQ(verdict(SYS_socket, {AF_UNIX, SOCK_SEQPACKET, 0}), kAllow);
}

TEST(SeccompTest, RequestsThatLoadModulesAreRefused) {
  for (const uint64_t request : {TIOCSETD, SIOCGIFBR, SIOCSIFBR, SIOCBRADDBR, SIOCGIFVLAN, SIOCSIFVLAN}) {
    EXPECT_EQ(verdict(SYS_ioctl, {0, request}), kRefuse);
    EXPECT_EQ(verdict(SYS_ioctl, {0, request | kGarbage}), kRefuse);
  }
}

TEST(SeccompTest, NoFilterOfOnesOwnIsCompiledByTheKernel) {
  for (const uint64_t option : {SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF}) {
    EXPECT_EQ(verdict(SYS_setsockopt, {0, SOL_SOCKET, option}), kRefuse);
    EXPECT_EQ(verdict(SYS_setsockopt, {0, SOL_SOCKET | kGarbage, option | kGarbage}), kRefuse);
  }
  EXPECT_EQ(verdict(SYS_prctl, {PR_SET_SECCOMP, 2}), kUnknown);
  EXPECT_EQ(verdict(SYS_prctl, {PR_SET_SECCOMP | kGarbage, 2}), kUnknown);
  EXPECT_EQ(verdict(SYS_prctl, {PR_SET_NAME}), kAllow);
}

TEST(SeccompTest, OptionsOfSocketsAreTheUsualOnes) {
  EXPECT_EQ(verdict(SYS_setsockopt, {0, SOL_SOCKET, SO_REUSEADDR}), kAllow);
  EXPECT_EQ(verdict(SYS_setsockopt, {0, IPPROTO_TCP, TCP_NODELAY}), kAllow);
  EXPECT_EQ(verdict(SYS_setsockopt, {0, IPPROTO_TCP, SO_ATTACH_FILTER}), kAllow);  // another level's 26
  constexpr uint64_t kSignedSegments = 38;                                         // TCP_AO_ADD_KEY
  for (const uint64_t option : {uint64_t{TCP_ULP}, uint64_t{TCP_MD5SIG}, uint64_t{TCP_MD5SIG_EXT}, kSignedSegments}) {
    EXPECT_EQ(verdict(SYS_setsockopt, {0, IPPROTO_TCP, option}), kRefuse) << option;
  }
  for (const uint64_t level : {IPPROTO_UDP, IPPROTO_UDPLITE}) {  // a UDP socket answers to both
    EXPECT_EQ(verdict(SYS_setsockopt, {0, level, UDP_ENCAP}), kRefuse) << level;
  }
}

TEST(SeccompTest, TheLimitOfDumpsOnlySeemsToChange) {
  constexpr uint64_t kSomewhere = 0x7fff'00000000;  // its lower half is that of null
  EXPECT_EQ(verdict(SYS_setrlimit, {RLIMIT_CORE, kSomewhere}), kPretend);
  EXPECT_EQ(verdict(SYS_setrlimit, {RLIMIT_NOFILE, kSomewhere}), kAllow);
  EXPECT_EQ(verdict(SYS_prlimit64, {0, RLIMIT_CORE, kSomewhere}), kPretend);
  EXPECT_EQ(verdict(SYS_prlimit64, {0, RLIMIT_CORE, 1}), kPretend);
  EXPECT_EQ(verdict(SYS_prlimit64, {0, RLIMIT_CORE, 0}), kAllow);
  EXPECT_EQ(verdict(SYS_prlimit64, {0, RLIMIT_NOFILE, kSomewhere}), kAllow);
}

TEST(SeccompTest, CallsCantWatchFilesThatTheyShare) {
  EXPECT_EQ(verdict(SYS_inotify_init1, {}, SyscallProfile::kCall), kRefuse);
  EXPECT_EQ(verdict(SYS_inotify_init, {}, SyscallProfile::kCall), kRefuse);
  EXPECT_EQ(verdict(SYS_fcntl, {0, F_NOTIFY}, SyscallProfile::kCall), kUnknown);
  for (const SyscallProfile profile : {SyscallProfile::kCall, SyscallProfile::kTool})
    EXPECT_EQ(verdict(SYS_fcntl, {0, F_SETLEASE}, profile), kUnknown);
  EXPECT_EQ(verdict(SYS_fcntl, {0, F_GETFL}, SyscallProfile::kCall), kAllow);
}

TEST(SeccompTest, TypingIntoATerminalIsRefusedWhateverTheUpperHalfHolds) {
  for (const uint64_t command : {TIOCSTI, TIOCLINUX}) {
    for (const SyscallProfile profile : {SyscallProfile::kTool, SyscallProfile::kCall, SyscallProfile::kZygote}) {
      EXPECT_EQ(verdict(SYS_ioctl, {0, command}, profile), kRefuse);
      EXPECT_EQ(verdict(SYS_ioctl, {0, command | kGarbage}, profile), kRefuse);
      EXPECT_EQ(verdict(SYS_ioctl, {0, command | 1ull << 32}, profile), kRefuse);
    }
  }
  EXPECT_EQ(verdict(SYS_ioctl, {0, TCGETS}), kAllow);
  EXPECT_EQ(verdict(SYS_ioctl, {0, TIOCGWINSZ}), kAllow);
}

TEST(SeccompTest, ThePersonalityStaysTheDefault) {
  constexpr uint64_t kReadImpliesExec = 0x0400000, kNoRandomAddresses = 0x0040000, kLinux32 = 8;
  EXPECT_EQ(verdict(SYS_personality, {0}), kAllow);
  EXPECT_EQ(verdict(SYS_personality, {0xFFFFFFFF}), kAllow);  // asks for the current one
  for (const uint64_t value : {kReadImpliesExec, kNoRandomAddresses, kLinux32}) {
    EXPECT_EQ(verdict(SYS_personality, {value}), kRefuse);
  }
}

TEST(SeccompTest, CallsOfOtherArchitecturesKill) {
  for (const SyscallProfile profile : {SyscallProfile::kTool, SyscallProfile::kCall, SyscallProfile::kZygote}) {
    for (const unsigned architecture : {AUDIT_ARCH_I386 + 0u, AUDIT_ARCH_ARM + 0u, AUDIT_ARCH_AARCH64}) {
      for (const int number : {0, 4, 11, 26, 102}) EXPECT_EQ(verdict(number, {}, profile, architecture), kKill);
    }
  }
}

TEST(SeccompTest, X32CallsKill) {
  for (const SyscallProfile profile : {SyscallProfile::kTool, SyscallProfile::kCall, SyscallProfile::kZygote}) {
    for (const int number : {0, 1, 16, 59, 101, 272, 512, 520, 547}) {
      EXPECT_EQ(verdict(kX32 | number, {}, profile), kKill) << number;
    }
  }
  EXPECT_NE(verdict(-1), kAllow);
}

TEST(SeccompTest, CallsNewerThanTheListAreNotThere) {
  for (const int number : {451, 452, 460, 463, 467, 500, 512, 547, 1000, kX32 - 1}) {
    EXPECT_EQ(verdict(number), kNotThere) << number;
    EXPECT_EQ(zygote_verdict(number), kNotThere) << number;
  }
}

TEST(SeccompTest, AZygoteMaySealItsChildren) {
  for (const int number : {SYS_unshare, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_seccomp, SYS_clone}) {
    EXPECT_EQ(zygote_verdict(number), kAllow) << number;
  }
  for (const int number : {kFsopen, kFsmount, kMoveMount, kOpenTree, kMountSetattr}) {
    EXPECT_EQ(zygote_verdict(number), kAllow) << number;
  }
}

}  // namespace
}  // namespace bj
