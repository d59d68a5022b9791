#include "engine/import/import_confine.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <memory>
#include <vector>

#include "engine/import/import_digest.h"
#include "seal/landlock.h"
#include "sys/files.h"
#include "sys/mount.h"
#include "sys/raw.h"

// Sanitizers need terabytes of shadow memory, and pipes to find out whether an address may be read.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define BELLJAR_SANITIZED 1
#else
#define BELLJAR_SANITIZED 0
#endif

namespace bj {
namespace {

constexpr rlim_t kOpenFiles = 1024;  // removing a tree holds one a level
constexpr rlim_t kMemory = 2ull << 30;

constexpr std::array kCalls = {
    "read",     "readv",        "pread64",        "write",         "writev",       "pwrite64",
    "lseek",    "close",        "fstat",          "newfstatat",    "openat",       "getdents64",
    "mkdirat",  "unlinkat",     "symlinkat",      "linkat",        "readlinkat",   "fchown",
    "fchownat", "fchmod",       "fchmodat",       "utimensat",     "ftruncate",    "fadvise64",
    "fcntl",    "umask",        "munmap",         "mremap",        "brk",          "madvise",
    "futex",    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",  "sigaltstack",  "restart_syscall",
    "exit",     "exit_group",   "getrandom",      "clock_gettime", "gettimeofday", "getpid",
    "gettid",   "geteuid",      "getuid",         "sched_yield"};

// What libraries load at their first use must be loaded while files can still be opened.
void warm_up() {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // or libarchive can't say names beyond ASCII
  (void)sha256_hex("");
}

Result<void> drop_descriptors(const ImportCell& cell) {
  std::vector<int> kept = {cell.directory, cell.rootfs, cell.scratch, cell.source, cell.messages};
  std::sort(kept.begin(), kept.end());
  if (kept.front() <= 2) return fail(Code::kInvalid, "the import needs standard input, output and error to be open");
  BJ_TRY(const Fd null, open_path("/dev/null", O_RDWR));
  for (int fd = 0; fd <= 2; ++fd) {
    if (::dup2(null.get(), fd) < 0) return fail_errno("dup2(/dev/null)");
  }
  unsigned from = 3;
  for (const int fd : kept) {
    const auto next = static_cast<unsigned>(fd);
    if (next > from && ::syscall(raw::kNrCloseRange, from, next - 1, 0) != 0) return fail_errno("close_range");
    from = next + 1;
  }
  if (::syscall(raw::kNrCloseRange, from, ~0u, 0) != 0) return fail_errno("close_range");
  return {};
}

Result<void> set_limit(__rlimit_resource resource, rlim_t value, const char* name) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return fail_errno(name);
  limit.rlim_max = std::min(limit.rlim_max, value);
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(resource, &limit) != 0) return fail_errno(name);
  return {};
}

Result<void> set_limits(const ImportLimits& limits) {
  ::signal(SIGXFSZ, SIG_IGN);  // a write that is too large fails with a sentence
  BJ_CHECK(set_limit(RLIMIT_FSIZE, std::max(limits.max_file_bytes, limits.max_total_bytes), "setrlimit(RLIMIT_FSIZE)"));
  BJ_CHECK(set_limit(RLIMIT_CPU, limits.timeout_seconds, "setrlimit(RLIMIT_CPU)"));
  BJ_CHECK(set_limit(RLIMIT_CORE, 0, "setrlimit(RLIMIT_CORE)"));
  if (!BELLJAR_SANITIZED) BJ_CHECK(set_limit(RLIMIT_DATA, kMemory, "setrlimit(RLIMIT_DATA)"));
  return set_limit(RLIMIT_NOFILE, kOpenFiles, "setrlimit(RLIMIT_NOFILE)");
}

Result<void> enter_directory(const ImportCell& cell) {
  if (::fchdir(cell.directory) != 0) return fail_errno("fchdir");
  const Result<void> rooted = ::geteuid() == 0 ? chroot_into(".") : Result<void>();
  return !rooted && rooted.error().sys != EPERM ? rooted : Result<void>();  // EPERM: root without the right to
}

struct LandlockRules {  // the build machine's header stops at ABI 2
  uint64_t files, network, scopes;
};

Result<void> allow_below(int ruleset, int directory, uint64_t rights) {
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = directory;
  if (::syscall(raw::kNrLandlockAdd, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
    return fail_errno("landlock_add_rule");
  return {};
}

Result<int> enforce_landlock(const ImportCell& cell) {
  constexpr int kFirstWithLinks = 2;
  constexpr uint64_t kSpecials = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                                 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                                 LANDLOCK_ACCESS_FS_EXECUTE;
  const int abi = static_cast<int>(::syscall(raw::kNrLandlockCreate, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
  if (abi < kFirstWithLinks) return 0;
  const uint64_t all = landlock_file_rights(abi);
  const LandlockRules rules{all, abi >= 4 ? 3ull : 0, landlock_scopes(abi)};  // 3: bind and connect
  const Fd ruleset(static_cast<int>(::syscall(raw::kNrLandlockCreate, &rules, sizeof rules, 0)));
  if (!ruleset.ok()) return fail_errno("landlock_create_ruleset");
  const uint64_t writing = all & ~(kSpecials | kLandlockIoctl);
  BJ_CHECK(allow_below(ruleset.get(), cell.rootfs, writing));
  BJ_CHECK(allow_below(ruleset.get(), cell.scratch, writing));
  if (cell.source_is_directory) BJ_CHECK(allow_below(ruleset.get(), cell.source, kLandlockReadFile | kLandlockReadDir));
  if (::syscall(raw::kNrLandlockRestrict, ruleset.get(), 0) != 0) return fail_errno("landlock_restrict_self");
  return abi;
}

// Owners and modes below the directory are set with these three; of anyone but root there is nothing to keep.
Result<void> drop_capabilities() {
  constexpr uint32_t kKept = 1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_FOWNER;
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  for (int capability = 0; capability <= 63; ++capability) {
    if (capability > 31 || (kKept >> capability & 1) == 0) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return fail_errno("capget");
  const uint32_t left = data[0].permitted & kKept;
  data[0] = {left, left, 0};
  data[1] = {0, 0, 0};
  if (::syscall(SYS_capset, &header, data) != 0) return fail_errno("capset");
  return {};
}

Result<void> filter_calls() {
  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release);
  if (!filter) return fail(Code::kUnavailable, "seccomp_init failed");
  int failed = seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  for (const char* name : kCalls) {
    const int number = seccomp_syscall_resolve_name(name);
    if (failed == 0) failed = number < 0 ? number : seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, number, 0);
  }
  if (BELLJAR_SANITIZED && failed == 0) {
    failed = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(pipe2), 0);
  }
  for (const int number : {SCMP_SYS(mmap), SCMP_SYS(mprotect)}) {  // memory, never code
    if (failed == 0)
      failed = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, number, 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  }
  const auto self = static_cast<scmp_datum_t>(::getpid());
  if (failed == 0)
    failed =
        seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_EQ, self, 0));  // abort()
  if (failed == 0) failed = seccomp_load(filter.get());
  if (failed != 0) return fail_with(-failed, "the import's seccomp filter");
  return {};
}

}  // namespace

Result<int> confine(const ImportCell& cell) {
  warm_up();
  ::umask(0);
  BJ_CHECK(drop_descriptors(cell));
  BJ_CHECK(set_limits(cell.limits));
  BJ_CHECK(enter_directory(cell));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail_errno("prctl(PR_SET_NO_NEW_PRIVS)");
  BJ_TRY(const int abi, enforce_landlock(cell));
  BJ_CHECK(drop_capabilities());
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return fail_errno("prctl(PR_SET_DUMPABLE)");
  BJ_CHECK(filter_calls());
  return abi;
}

}  // namespace bj
