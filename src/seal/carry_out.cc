#include "seal/carry_out.h"

#include <linux/filter.h>
#include <linux/if.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sys/socket.h>

#include "sys/raw.h"

namespace bj {
namespace {

using raw::address;
using raw::call;
using raw::kAtEmptyPath;
using raw::kAtFdCwd;

constexpr unsigned kAtRecursive = 0x8000;  // rootless, every node of /dev is a mount of its own
constexpr long kMsRec = 1 << 14, kMsPrivate = 1 << 18, kMntDetach = 2;
constexpr int kErrBadMessage = 74, kErrNameTooLong = 36, kErrExists = 17;
constexpr long kCloexec = 02000000;

struct Landlock {  // linux/landlock.h of the build machine stops at ABI 2
  uint64_t handled_fs, handled_net, scoped;
};

long set_option(long context, const char* key, const char* value) {
  if (*value == 0) return call(raw::kNrFsconfig, context, FSCONFIG_SET_FLAG, address(key), 0, 0);
  return call(raw::kNrFsconfig, context, FSCONFIG_SET_STRING, address(key), address(value), 0);
}

// "a=b,c" -> fsconfig(a, b), fsconfig(c).
long set_options(long context, const char* options) {
  char key[32], value[192];
  while (*options != 0) {
    size_t k = 0, v = 0;
    for (; *options != 0 && *options != ',' && *options != '='; ++options) {
      if (k + 1 >= sizeof key) return -kErrNameTooLong;
      key[k++] = *options;
    }
    if (*options == '=') {
      for (++options; *options != 0 && *options != ','; ++options) {
        if (v + 1 >= sizeof value) return -kErrNameTooLong;
        value[v++] = *options;
      }
    }
    if (*options == ',') ++options;
    key[k] = 0;
    value[v] = 0;
    if (const long r = set_option(context, key, value); r < 0) return r;
  }
  return 0;
}

long new_mount(const char* type, const char* options, uint64_t attributes) {
  const long context = call(raw::kNrFsopen, address(type), FSOPEN_CLOEXEC);
  if (context < 0) return context;
  long r = set_options(context, options);
  if (r >= 0) r = call(raw::kNrFsconfig, context, FSCONFIG_CMD_CREATE, 0, 0, 0);
  if (r >= 0) r = call(raw::kNrFsmount, context, FSMOUNT_CLOEXEC, static_cast<long>(attributes));
  call(__NR_close, context);
  return r;
}

long attach(long mount, const char* path) {
  static const char empty[] = "";
  return call(raw::kNrMoveMount, mount, address(empty), kAtFdCwd, address(path), MOVE_MOUNT_F_EMPTY_PATH);
}

long set_attributes(long dir, const char* path, unsigned flags, uint64_t attributes) {
  mount_attr attr{};
  attr.attr_set = attributes;
  return call(raw::kNrMountSetattr, dir, address(path), flags, address(&attr), sizeof attr);
}

// Most masks of /proc have nothing to hide on a given kernel: asked first, they cost little.
long bind(const char* from, const char* to, uint64_t attributes) {
  constexpr long kExists = 0;
  if (const long r = call(__NR_faccessat, kAtFdCwd, address(to), kExists); r < 0) return r;
  const long tree = call(raw::kNrOpenTree, kAtFdCwd, address(from), OPEN_TREE_CLONE | kCloexec);
  if (tree < 0) return tree;
  long r = attributes != 0 ? set_attributes(tree, "", kAtEmptyPath, attributes) : 0;
  if (r >= 0) r = attach(tree, to);
  call(__NR_close, tree);
  return r;
}

long pivot_root(const char* to) {
  static const char dot[] = ".";
  static const char root[] = "/";
  if (const long r = call(__NR_chdir, address(to)); r < 0) return r;
  if (const long r = call(__NR_pivot_root, address(dot), address(dot)); r < 0) return r;
  if (const long r = call(__NR_umount2, address(dot), kMntDetach); r < 0) return r;
  return call(__NR_chdir, address(root));
}

#ifdef BELLJAR_TEST_SWITCHES
long change_root(const char* to) {
  static const char root[] = "/";
  if (const long r = call(__NR_chroot, address(to)); r < 0) return r;
  return call(__NR_chdir, address(root));
}
#endif

long loopback_up() {
  const long s = call(__NR_socket, 2, 2 | kCloexec, 0);
  if (s < 0) return s;
  ifreq request{};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const long r = call(__NR_ioctl, s, SIOCSIFFLAGS, address(&request));
  call(__NR_close, s);
  return r;
}

long reset_signals(long first, long last) {
  struct {
    void* handler;
    unsigned long flags;
    void* restorer;
    uint64_t mask;
  } const action{};
  const uint64_t none = 0;
  constexpr long kSetMask = 2;
  for (long s = first; s <= last; ++s) call(__NR_rt_sigaction, s, address(&action), 0, sizeof none);
  return call(__NR_rt_sigprocmask, kSetMask, address(&none), 0, sizeof none);
}

long open_null(long at) {
  static const char path[] = "/dev/null";
  constexpr long kReadWrite = 2;
  const long fd = call(__NR_openat, kAtFdCwd, address(path), kReadWrite | kCloexec, 0);
  if (fd < 0) return fd;
  const long r = call(__NR_dup2, fd, at);
  call(__NR_close, fd);
  return r;
}

// Never above the limit we already have: that would need privilege and would loosen it.
long set_rlimit(long resource, uint64_t value) {
  uint64_t limit[2] = {0, 0};
  if (const long r = call(__NR_prlimit64, 0, resource, 0, address(limit)); r < 0) return r;
  limit[0] = limit[1] = value < limit[1] ? value : limit[1];
  return call(__NR_prlimit64, 0, resource, address(limit), 0);
}

long set_caps(uint64_t caps) {
  struct {
    uint32_t version;
    int32_t pid;
  } const header{0x20080522, 0};
  struct {
    uint32_t effective, permitted, inheritable;
  } data[2]{};
  for (int i = 0; i < 2; ++i) data[i].effective = data[i].permitted = static_cast<uint32_t>(caps >> (32 * i));
  call(__NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return call(__NR_capset, address(&header), address(data));
}

long set_ids(long uid, long gid) {
  call(__NR_setgroups, 0, 0);  // refused where the parent denied setgroups: then there are none to drop
  if (const long r = call(__NR_setresgid, gid, gid, gid); r < 0) return r;
  return call(__NR_setresuid, uid, uid, uid);
}

long landlock_create(uint64_t rights, uint64_t scopes) {
  const Landlock attr{rights, 0, scopes};
  const size_t size = scopes != 0 ? sizeof attr : sizeof attr.handled_fs;
  return call(raw::kNrLandlockCreate, address(&attr), static_cast<long>(size), 0);
}

long landlock_allow(long ruleset, const char* path, uint64_t rights) {
  constexpr long kOpenPath = 010000000;
  const long fd = call(__NR_openat, kAtFdCwd, address(path), kOpenPath | kCloexec, 0);
  if (fd < 0) return fd;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = static_cast<int>(fd);
  const long r = call(raw::kNrLandlockAdd, ruleset, LANDLOCK_RULE_PATH_BENEATH, address(&rule), 0);
  call(__NR_close, fd);
  return r;
}

long seccomp(const char* program, uint64_t instructions) {
  sock_fprog prog{static_cast<unsigned short>(instructions),
                  reinterpret_cast<sock_filter*>(const_cast<char*>(program))};
  return call(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, address(&prog));
}

constexpr long kWriteOnly = 01, kWriteNew = 01 | 0100 | 0200;  // O_WRONLY | O_CREAT | O_EXCL

long write_file(const char* path, long flags, const char* contents) {
  const long fd = call(__NR_openat, kAtFdCwd, address(path), flags | kCloexec, 0444);
  if (fd < 0) return fd;
  const long r = call(__NR_write, fd, address(contents), static_cast<long>(raw::length(contents)));
  call(__NR_close, fd);
  return r;
}

long send_descriptor(long socket, int descriptor, const char* text) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{const_cast<char*>(text), raw::length(text)};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof descriptor);
  __builtin_memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  return call(__NR_sendmsg, socket, address(&header), MSG_NOSIGNAL);
}

long make_directory(const char* path, uint64_t mode) {
  const long r = call(__NR_mkdirat, kAtFdCwd, address(path), static_cast<long>(mode));
  return r == -kErrExists ? 0 : r;
}

long execute(long program, const char* name) {
  static const char empty[] = "";
  const char* argv[] = {name, nullptr};
  const char* env[] = {nullptr};
  return call(__NR_execveat, program, address(empty), address(argv), address(env), kAtEmptyPath);
}

// Descriptors of the slots go above every number that a plan places or closes from.
void lift_slots(CarryOut& state) {
  constexpr long kDupCloexec = 1030, kFloor = 64;
  for (int& fd : state.slots) {
    if (fd < 0 || fd >= kFloor) continue;
    const long lifted = call(__NR_fcntl, fd, kDupCloexec, kFloor);
    if (lifted >= 0) fd = static_cast<int>(lifted);
  }
}

bool inside(const PlanView& plan, const Step& step) {
  if (step.slot >= kMaxSlots || step.text >= plan.strings_size || step.more >= plan.strings_size) return false;
  if (step.op != Op::kSeccomp) return true;
  return step.number <= 4096 && step.text + step.number * sizeof(sock_filter) <= plan.strings_size;
}

bool sound(const PlanView& plan) {
  if (plan.count > kMaxSteps || plan.strings_size == 0 || plan.strings_size > kMaxStrings) return false;
  if (plan.strings[plan.strings_size - 1] != 0) return false;
  for (uint32_t i = 0; i < plan.count; ++i) {
    if (!inside(plan, plan.steps[i])) return false;
  }
  return true;
}

long do_step(const Step& step, const char* text, const char* more, CarryOut& state) {
  int& slot = state.slots[step.slot];
  const uint64_t number = step.number == kOwnUid ? state.uid : step.number;
  const uint64_t number2 = step.number2 == kOwnUid ? state.uid : step.number2;
  const auto keep = [&slot](long fd) {
    if (fd >= 0) slot = static_cast<int>(fd);
    return fd;
  };
  switch (step.op) {
    case Op::kWrite: return call(__NR_write, slot, address(text), static_cast<long>(raw::length(text)));
    case Op::kUnshare: return call(__NR_unshare, static_cast<long>(number));
    case Op::kLoopbackUp: return loopback_up();
    case Op::kHostname: return call(__NR_sethostname, address(text), static_cast<long>(raw::length(text)));
    case Op::kNewSession: return call(__NR_setsid);
    case Op::kResetSignals: return reset_signals(static_cast<long>(number), static_cast<long>(number2));
    case Op::kPrivateMounts: return call(__NR_mount, 0, address(text), 0, kMsRec | kMsPrivate, 0);
    case Op::kMakeDirectory: return make_directory(text, number);
    case Op::kChown: return call(__NR_chown, address(text), static_cast<long>(number), static_cast<long>(number));
    case Op::kMount: return keep(new_mount(text, more, number));
    case Op::kAttach: return attach(slot, text);
    case Op::kBind: return bind(text, more, number);
    case Op::kSetAttributes: return set_attributes(kAtFdCwd, text, kAtRecursive, number);
    case Op::kPivotRoot: return pivot_root(text);
    case Op::kChangeDirectory: return call(__NR_chdir, address(text));
    case Op::kUmask: return call(__NR_umask, static_cast<long>(number));
    case Op::kOpenNull: return open_null(static_cast<long>(number));
    case Op::kRlimit: return set_rlimit(static_cast<long>(number), number2);
    case Op::kDropBounding: return raw::drop_bounding(number);
    case Op::kSetIds: return set_ids(static_cast<long>(number), static_cast<long>(number2));
    case Op::kSetCaps: return set_caps(number);
    case Op::kDumpable: return call(__NR_prctl, PR_SET_DUMPABLE, static_cast<long>(number), 0, 0, 0);
    case Op::kNoNewPrivs: return call(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    case Op::kLandlockCreate: return keep(landlock_create(number, number2));
    case Op::kLandlockAllow: return landlock_allow(slot, text, number);
    case Op::kLandlockEnforce: return call(raw::kNrLandlockRestrict, slot, 0);
    case Op::kSeccomp: return seccomp(text, number);
    case Op::kPlaceFd: return call(__NR_dup2, slot, static_cast<long>(number));
    case Op::kCloseFrom: return call(raw::kNrCloseRange, static_cast<long>(number), ~0u, static_cast<long>(number2));
    case Op::kExec: return execute(slot, text);
    case Op::kPutFile: return write_file(text, kWriteNew, more);
    case Op::kSetting: return write_file(text, kWriteOnly, more);
    case Op::kBorn: return 0;
    case Op::kSendDescriptor: return send_descriptor(state.slots[kSlotControl], slot, text);
#ifdef BELLJAR_TEST_SWITCHES
    case Op::kChroot: return change_root(text);
#endif
  }
  return -kErrBadMessage;
}

}  // namespace

Failure carry_out(const PlanView& plan, CarryOut& state) {
  if (!sound(plan)) return {0, kErrBadMessage};
  lift_slots(state);
  for (uint32_t i = 0; i < plan.count; ++i) {
    const Step& step = plan.steps[i];
    const long r = do_step(step, plan.strings + step.text, plan.strings + step.more, state);
    if (r < 0 && step.optional == 0) return {static_cast<int32_t>(i), static_cast<int32_t>(-r)};
  }
  return {};
}

}  // namespace bj
