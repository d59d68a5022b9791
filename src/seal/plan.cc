#include "seal/plan.h"

#include <fmt/format.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>

#include "seal/landlock.h"
#include "seal/seccomp.h"

namespace bj {
namespace {

constexpr uint64_t kQuiet = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr uint64_t kInert = kQuiet | MOUNT_ATTR_NOEXEC;
constexpr uint64_t kCloseOnExec = 4;  // CLOSE_RANGE_CLOEXEC
constexpr uint64_t kLastSignal = 64;
constexpr uint64_t kMib = 1 << 20;
constexpr uint32_t kInodesPerMib = 64;
// A machine has some thousand terminals for all sandboxes together, and a user some hundred inotify instances.
constexpr const char* kTerminals = "newinstance,ptmxmode=0666,mode=620,max=64";
constexpr const char* kTerminalsOfACall = "newinstance,ptmxmode=0666,mode=620,max=16";
constexpr const char* kWatchers = "64";
constexpr const char* kBeside = "/scratch/beside";  // empty: an overlay wants two

// Appends steps; each call is one line of the list that a reader follows.
class Builder {
 public:
  struct Args {
    uint8_t slot = 0;
    std::string text = {};
    std::string more = {};
    uint64_t number = 0;
    uint64_t number2 = 0;
    bool optional = false;
  };

  void add(Control control, Op op, const Args& args) {
    plan_.steps.push_back({op, control, args.slot, static_cast<uint8_t>(args.optional ? 1 : 0), intern(args.text),
                           intern(args.more), args.number, args.number2});
  }
  void add(Control control, Op op) { add(control, op, {}); }

  void add_program(Control control, const std::string& program) {
    while (plan_.strings.size() % 8 != 0) plan_.strings.push_back('\0');
    const auto at = static_cast<uint32_t>(plan_.strings.size());
    plan_.strings.append(program).push_back('\0');
    plan_.steps.push_back({Op::kSeccomp, control, 0, 0, at, 0, program.size() / 8, 0});
  }

  Plan take() { return std::move(plan_); }

 private:
  uint32_t intern(const std::string& text) {
    if (text.empty()) return 0;
    const auto at = static_cast<uint32_t>(plan_.strings.size());
    plan_.strings.append(text).push_back('\0');
    return at;
  }

  Plan plan_;
};

std::string tmpfs_options(const Limits& limits) {
  const uint64_t inodes = std::max<uint64_t>(1024, (limits.disk_bytes >> 20) * kInodesPerMib);
  return fmt::format("mode=755,size={},nr_inodes={}", limits.disk_bytes, inodes);
}

void join_cgroups(Builder& b, const std::vector<Control>& joins, Joining joining) {
  for (size_t i = 0; i < joins.size(); ++i) {
    if (joining == Joining::kCloned) {
      b.add(joins[i], Op::kBorn);
    } else {
      b.add(joins[i], Op::kWrite, {.slot = static_cast<uint8_t>(kSlotCgroup + i), .text = "0"});
    }
  }
  // After joining: the namespace's root is where the process is when it is made.
  if (!joins.empty()) b.add(Control::kCgroupNs, Op::kUnshare, {.number = CLONE_NEWCGROUP});
}

// Layers of one target, `first` to `end` - 1.
struct Stack {
  size_t first, end;
};

std::string upper_name(size_t first_layer) { return fmt::format("u{}", first_layer); }

std::vector<Stack> stacks_of(const std::vector<std::string>& targets) {
  std::vector<Stack> stacks;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (i > 0 && targets[i] == targets[i - 1]) {
      ++stacks.back().end;
    } else {
      stacks.push_back({i, i + 1});
    }
  }
  return stacks;
}

// Mounts the layers where an overlay finds them; the answer is its lowerdir option.
std::string attach_lower(Builder& b, const Stack& stack, Control control = Control::kNone) {
  std::string option = "lowerdir";
  for (size_t i = stack.first; i < stack.end; ++i) {
    const std::string place = "/" + layer_place(i);
    b.add(control, Op::kAttach, {.slot = static_cast<uint8_t>(kSlotLayer + i), .text = place});
    option += (i == stack.first ? '=' : ':') + place;
  }
  return option;
}

void mount_overlay(Builder& b, const std::string& options, const std::string& target) {
  b.add(Control::kNone, Op::kMount, {.slot = kSlotFree, .text = "overlay", .more = options, .number = kQuiet});
  b.add(Control::kNone, Op::kAttach, {.slot = kSlotFree, .text = "/new" + target});
}

// Each target becomes an overlay of its own: an overlay does not see what is mounted below its lower directory.
void mount_writable_root(Builder& b, const SandboxPolicy& policy) {
  for (const Stack& stack : stacks_of(policy.layer_targets)) {
    const size_t i = stack.first;
    const std::string lower = attach_lower(b, stack);
    b.add(Control::kNone, Op::kMakeDirectory, {.text = "/scratch/" + upper_name(i), .number = 0755});
    b.add(Control::kNone, Op::kMakeDirectory, {.text = fmt::format("/scratch/w{}", i), .number = 0700});
    mount_overlay(
        b, fmt::format("{},upperdir=/scratch/{},workdir=/scratch/w{},userxattr,xino=off", lower, upper_name(i), i),
        policy.layer_targets[i]);
  }
}

// In the slot's place comes an overlay of it. A zygote, and what is imported into it, may mount: a mount that is only
// marked read-only it could make writable again. An overlay that has nothing to write to stays read-only, and what is
// below it is not in the new root.
void seal_off(Builder& b, Control control, uint8_t slot, const std::string& lower) {
  b.add(control, Op::kMount,
        {.slot = slot, .text = "overlay", .more = lower + ":" + kBeside + ",userxattr,xino=off", .number = kQuiet});
}

bool is_alone(const Stack& stack) { return stack.end - stack.first == 1; }

void mount_template_root(Builder& b, const SandboxPolicy& policy) {
  for (const Stack& stack : stacks_of(policy.layer_targets)) {
    const std::string& target = policy.layer_targets[stack.first];
    if (is_alone(stack)) {
      const auto slot = static_cast<uint8_t>(kSlotLayer + stack.first);
      seal_off(b, Control::kReadOnly, slot, attach_lower(b, stack, Control::kReadOnly));
      b.add(Control::kNone, Op::kAttach, {.slot = slot, .text = "/new" + target});
    } else {
      mount_overlay(b, attach_lower(b, stack) + ",userxattr,xino=off", target);
    }
    b.add(Control::kReadOnly, Op::kSetAttributes, {.text = "/new" + target, .number = MOUNT_ATTR_RDONLY | kQuiet});
  }
}

// The owner's own mounts, of directories: they are attached in the new root.
void seal_off_extras(Builder& b, const SandboxPolicy& policy) {
  for (size_t i = 0; i < policy.extra_targets.size(); ++i) {
    const auto slot = static_cast<uint8_t>(kSlotExtra + i);
    const std::string place = fmt::format("/scratch/x{}", i);
    b.add(Control::kReadOnly, Op::kMakeDirectory, {.text = place, .number = 0555});
    b.add(Control::kReadOnly, Op::kAttach, {.slot = slot, .text = place});
    seal_off(b, Control::kReadOnly, slot, "lowerdir=" + place);
  }
}

// The image's certificates, and what root inside adds to them. An image without the directory goes without. They are
// taken from the layer itself where it is alone: overlays lie on each other twice at most, and below may be the host's.
void mount_trust(Builder& b, const SandboxPolicy& policy) {
  constexpr const char* kPlace = "/new/etc/ssl/certs";
  const bool alone = is_alone(stacks_of(policy.layer_targets).front());
  const std::string from = (alone ? "/" + layer_place(0) : "/new") + "/etc/ssl/certs";
  b.add(Control::kNone, Op::kMakeDirectory, {.text = "/scratch/ut", .number = 0755});
  b.add(Control::kNone, Op::kMakeDirectory, {.text = "/scratch/wt", .number = 0700});
  b.add(Control::kNone, Op::kMount,
        {.slot = kSlotFree,
         .text = "overlay",
         .more = fmt::format("lowerdir={},upperdir=/scratch/ut,workdir=/scratch/wt,userxattr,xino=off", from),
         .number = kInert,
         .optional = true});
  b.add(Control::kNone, Op::kAttach, {.slot = kSlotFree, .text = kPlace, .optional = true});
}

void mount_dev(Builder& b) {
  b.add(Control::kNone, Op::kAttach, {.slot = kSlotDev, .text = "/new/dev"});
  b.add(Control::kDev, Op::kSetAttributes,
        {.text = "/new/dev", .number = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC});
  b.add(Control::kNone, Op::kMount,
        {.slot = kSlotFree, .text = "devpts", .more = kTerminals, .number = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC});
  b.add(Control::kNone, Op::kAttach, {.slot = kSlotFree, .text = "/new/dev/pts"});
}

// Everything of /proc is read-only; what tells about the kernel, its devices, the host's keys or other sandboxes (their
// locks) is hidden as well. Each boot of a sandbox has an id of its own, as a machine's has.
void mount_proc(Builder& b, const SandboxPolicy& policy) {
  b.add(Control::kNone, Op::kMount, {.slot = kSlotFree, .text = "proc", .number = kInert});
  b.add(Control::kNone, Op::kAttach, {.slot = kSlotFree, .text = "/new/proc"});
  const auto hide = [&b](const char* behind, const char* name) {
    const std::string path = fmt::format("/new/proc/{}", name);
    b.add(Control::kProc, Op::kBind, {.text = behind, .more = path, .optional = true});
  };
  // Others, such as kpagecount or slabinfo, only root outside may open.
  for (const char* name :
       {"kcore", "kallsyms", "kmsg", "keys", "key-users", "modules", "timer_list", "interrupts", "softirqs",
        "config.gz", "sched_debug", "schedstat", "latency_stats", "cmdline", "locks", "buddyinfo", "zoneinfo"}) {
    hide("/new/dev/null", name);
  }
  b.add(Control::kProc, Op::kMakeDirectory, {.text = "/scratch/nothing", .number = 0555});
  for (const char* name : {"acpi", "asound", "bus", "fs", "irq", "scsi"}) hide("/scratch/nothing", name);
  if (!policy.boot_id.empty()) {
    b.add(Control::kProc, Op::kPutFile, {.text = "/scratch/boot_id", .more = policy.boot_id + "\n"});
    b.add(Control::kProc, Op::kBind, {.text = "/scratch/boot_id", .more = "/new/proc/sys/kernel/random/boot_id"});
  }
  // Of each user inside. All of them together have what the kernel gives one user: the owner of the user namespace.
  b.add(Control::kRlimits, Op::kSetting, {.text = "/new/proc/sys/user/max_inotify_instances", .more = kWatchers});
  // Who could make a user namespace of its own would have every capability there. To others the filter forbids it.
  if (policy.syscalls == SyscallProfile::kZygote)
    b.add(Control::kCaps, Op::kSetting, {.text = "/new/proc/sys/user/max_user_namespaces", .more = "0"});
  b.add(Control::kProc, Op::kSetAttributes, {.text = "/new/proc", .number = MOUNT_ATTR_RDONLY | kInert});
}

bool has(const std::vector<Control>& joins, Control control) {
  return std::find(joins.begin(), joins.end(), control) != joins.end();
}

// Memory and processes are counted by cgroups; where there is none, per process and per user is better than nothing.
void set_rlimits(Builder& b, const Limits& limits, const std::vector<Control>& joins) {
  const auto limit = [&b](int resource, uint64_t value) {
    b.add(Control::kRlimits, Op::kRlimit, {.number = static_cast<uint64_t>(resource), .number2 = value});
  };
  limit(RLIMIT_CORE, 1);  // not 0: at 1 alone the kernel starts no program of the host's for a dump (core(5))
  limit(RLIMIT_NOFILE, limits.open_files);
  limit(RLIMIT_MEMLOCK, 64 * 1024);
  limit(RLIMIT_MSGQUEUE, 0);
  limit(RLIMIT_SIGPENDING, 1024);
  limit(RLIMIT_RTPRIO, 0);
  limit(RLIMIT_NICE, 0);
  limit(RLIMIT_FSIZE, limits.disk_bytes + kMib);  // a file that fills the disk fails as one
  if (!has(joins, Control::kPids)) limit(RLIMIT_NPROC, limits.processes + 1);
  // A second more: the engine, which counts all processes together, is the first to end them, and says why.
  if (limits.cpu_ms != 0) limit(RLIMIT_CPU, (limits.cpu_ms + 999) / 1000 + 1);
  if (!has(joins, Control::kMemory))
    limit(RLIMIT_DATA, limits.memory_bytes);  // not RLIMIT_AS: Node reserves far more than it uses
}

// The writable places of a call; in a writable sandbox the one rule is "/": Landlock then still denies every mount
// call, and signals, abstract sockets and ptrace across its border.
void confine_paths(Builder& b, RootMode root, const Abilities& abilities) {
  if (abilities.landlock_abi == 0) return;
  const uint64_t handled = landlock_file_rights(abilities.landlock_abi);
  const uint64_t all = handled & ~kLandlockMakeDevices;
  const auto create =
      Builder::Args{.slot = kSlotFree, .number = handled, .number2 = landlock_scopes(abilities.landlock_abi)};
  const auto allow = [&b](const char* path, uint64_t rights) {
    b.add(Control::kLandlock, Op::kLandlockAllow, {.slot = kSlotFree, .text = path, .number = rights});
  };
  b.add(Control::kLandlock, Op::kLandlockCreate, create);
  if (root == RootMode::kWritable) {
    allow("/", all);
  } else {
    allow("/", kLandlockRead);
    allow("/dev", (kLandlockRead | kLandlockWriteFile | kLandlockIoctl) & all);
    for (const char* path : {"/tmp", "/home/user", "/dev/shm"}) allow(path, all);
  }
  b.add(Control::kLandlock, Op::kLandlockEnforce, {.slot = kSlotFree});
}

// Each directory on the way to it; in a template's root they must be there.
void make_mount_point(Builder& b, const std::string& target) {
  for (size_t slash = target.find('/', 1);; slash = target.find('/', slash + 1)) {
    b.add(Control::kNone, Op::kMakeDirectory, {.text = target.substr(0, slash), .number = 0755});
    if (slash == std::string::npos) return;
  }
}

// Behind an overlay: files that all sandboxes share would tell whoever watches or locks them what others do.
void mount_runtimes(Builder& b) {
  constexpr const char* kFrom = "/scratch/runtimes";
  b.add(Control::kNone, Op::kMakeDirectory, {.text = kFrom, .number = 0555});
  b.add(Control::kNone, Op::kAttach, {.slot = kSlotRuntimes, .text = kFrom});
  seal_off(b, Control::kNone, kSlotFree, std::string("lowerdir=") + kFrom);
  b.add(Control::kNone, Op::kAttach, {.slot = kSlotFree, .text = "/new/opt/belljar"});
}

void mount_sandbox_root(Builder& b, const SandboxPolicy& policy) {
  b.add(Control::kNone, Op::kPrivateMounts, {.text = "/"});
  b.add(Control::kDisk, Op::kMount,
        {.slot = kSlotFree, .text = "tmpfs", .more = tmpfs_options(policy.limits), .number = kQuiet});
  b.add(Control::kDisk, Op::kAttach, {.slot = kSlotFree, .text = "/scratch"});
  b.add(Control::kNone, Op::kMakeDirectory, {.text = kBeside, .number = 0555});
  if (policy.root == RootMode::kWritable) {
    b.add(Control::kDisk, Op::kSendDescriptor, {.slot = kSlotFree, .text = kScratchMessage});
    mount_writable_root(b, policy);
  } else {
    mount_template_root(b, policy);
    seal_off_extras(b, policy);
    if (policy.own_trust) mount_trust(b, policy);
  }
  mount_dev(b);
  b.add(Control::kNone, Op::kMakeDirectory, {.text = "/scratch/shm", .number = 01777});
  b.add(Control::kNone, Op::kBind, {.text = "/scratch/shm", .more = "/new/dev/shm"});
  mount_runtimes(b);
  mount_proc(b, policy);
  b.add(Control::kRoot, Op::kPivotRoot, {.text = "/new"});
  // In the new root: a link of a hostile template leads nowhere else.
  for (size_t i = 0; i < policy.extra_targets.size(); ++i) {
    const auto slot = static_cast<uint8_t>(kSlotExtra + i);
    if (policy.root == RootMode::kWritable) make_mount_point(b, policy.extra_targets[i]);
    b.add(Control::kNone, Op::kAttach, {.slot = slot, .text = policy.extra_targets[i]});
  }
}

}  // namespace

std::string layer_place(size_t index) {
  constexpr std::string_view kNames = "0123456789abcdefghijklmnopqrstuv";
  static_assert(kNames.size() >= kMaxLayers);
  return std::string("l") + kNames[index % kNames.size()];
}

std::vector<UpperPlace> upper_places(const std::vector<std::string>& layer_targets) {
  std::vector<UpperPlace> places;
  for (const Stack& stack : stacks_of(layer_targets)) {
    places.push_back({upper_name(stack.first), layer_targets[stack.first]});
  }
  return places;
}

PlanView Plan::view() const {
  return {steps.data(), static_cast<uint32_t>(steps.size()), strings.data(), static_cast<uint32_t>(strings.size())};
}

std::string Plan::describe(const Failure& failure) const {
  if (failure.step < 0 || static_cast<size_t>(failure.step) >= steps.size()) return std::strerror(failure.error);
  const Step& step = steps[static_cast<size_t>(failure.step)];
  // clang-format off: a list in the order of Op
  static constexpr std::array kOpNames = {
      "write",  "unshare",     "loopback up", "sethostname", "setsid",     "signals",     "private mounts", "mkdir",
      "chown",       "mount",       "attach",      "bind",       "mount attributes", "pivot_root", "chdir",
      "umask",  "open /dev/null", "rlimit",      "bounding set", "set ids",    "capset",     "dumpable",    "no_new_privs",   "landlock create",
      "landlock rule", "landlock enforce", "seccomp", "place descriptor", "close descriptors", "exec",
      "put file", "send descriptor", "setting", "born",
#ifdef BELLJAR_TEST_SWITCHES
      "chroot",
#endif
  };
  // clang-format on
  const char* text = step.op == Op::kSeccomp ? "" : strings.c_str() + step.text;
  const char* more = strings.c_str() + step.more;
  return fmt::format("step {} ({}{}{}{}{}): {}", failure.step, kOpNames[static_cast<size_t>(step.op)],
                     *text != 0 ? " " : "", text, *more != 0 ? " " : "", more, std::strerror(failure.error));
}

uint64_t sandbox_clone_flags() { return CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS; }

uint64_t call_clone_flags() { return CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS; }

Plan sandbox_plan(const SandboxPolicy& policy, const Abilities& abilities, const std::vector<Control>& joins,
                  Joining joining) {
  Builder b;
  const uint64_t first_id = policy.ids.kind == IdMap::Kind::kRange ? 0 : policy.ids.inside;
  b.add(Control::kNone, Op::kResetSignals, {.number = 1, .number2 = kLastSignal});  // the launcher ignores some
  join_cgroups(b, joins, joining);
  b.add(Control::kNone, Op::kSetIds, {.number = first_id, .number2 = first_id});
  b.add(Control::kSession, Op::kNewSession);
  b.add(Control::kNone, Op::kUmask, {.number = 0});
  b.add(Control::kUtsNs, Op::kHostname, {.text = policy.hostname});
  mount_sandbox_root(b, policy);
  b.add(Control::kNone, Op::kUmask, {.number = 022});
  b.add(Control::kCaps, Op::kDropBounding, {.number = policy.caps});
  // Root inside keeps the set when it executes the warden; any other id loses all of it there.
  if (first_id == 0) b.add(Control::kCaps, Op::kSetCaps, {.number = policy.caps});
  b.add(Control::kNoNewPrivs, Op::kNoNewPrivs);
  if (policy.syscalls == SyscallProfile::kTool) confine_paths(b, policy.root, abilities);
  // After the last step that opens something: the launcher keeps so much, as a zygote does of its
  // children, that numbers below the limit are taken.
  set_rlimits(b, policy.limits, joins);
  b.add_program(Control::kSeccomp, seccomp_program(policy.syscalls));
  b.add(Control::kNone, Op::kPlaceFd, {.slot = kSlotControl, .number = 3});
  b.add(Control::kFds, Op::kCloseFrom, {.number = 4, .number2 = kCloseOnExec});
  b.add(Control::kNone, Op::kExec, {.slot = kSlotProgram, .text = "warden"});
  return b.take();
}

Plan call_plan(const SandboxPolicy& policy, const Abilities& abilities, const std::vector<Control>& joins) {
  Builder b;
  const bool own_uid = policy.ids.kind == IdMap::Kind::kRange;
  b.add(Control::kNone, Op::kResetSignals, {.number = SIGCHLD, .number2 = SIGCHLD});  // the rest are the interpreter's
  join_cgroups(b, joins, Joining::kWriting);
  b.add(Control::kSession, Op::kNewSession);
  b.add(Control::kNone, Op::kUmask, {.number = 0});
  // One tmpfs, attached three times: the disk limit covers all that the call can write.
  b.add(Control::kDisk, Op::kMount,
        {.slot = kSlotFree, .text = "tmpfs", .more = tmpfs_options(policy.limits), .number = kQuiet});
  b.add(Control::kDisk, Op::kAttach, {.slot = kSlotFree, .text = "/run"});
  b.add(Control::kDisk, Op::kMakeDirectory, {.text = "/run/tmp", .number = 01777});
  b.add(Control::kDisk, Op::kMakeDirectory, {.text = "/run/home", .number = 0700});
  b.add(Control::kDisk, Op::kMakeDirectory, {.text = "/run/shm", .number = 01777});
  if (own_uid) b.add(Control::kDisk, Op::kChown, {.text = "/run/home", .number = kOwnUid});
  b.add(Control::kDisk, Op::kBind, {.text = "/run/tmp", .more = "/tmp"});
  b.add(Control::kDisk, Op::kBind, {.text = "/run/home", .more = "/home/user"});
  b.add(Control::kDisk, Op::kBind, {.text = "/run/shm", .more = "/dev/shm"});
  const std::string proc_options = abilities.proc_subset.available ? "subset=pid" : "";
  b.add(Control::kPidNs, Op::kMount,
        {.slot = kSlotFree, .text = "proc", .more = proc_options, .number = kInert | MOUNT_ATTR_RDONLY});
  b.add(Control::kPidNs, Op::kAttach, {.slot = kSlotFree, .text = "/proc"});
  b.add(Control::kNone, Op::kMount,
        {.slot = kSlotFree,
         .text = "devpts",
         .more = kTerminalsOfACall,
         .number = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC});
  b.add(Control::kNone, Op::kAttach, {.slot = kSlotFree, .text = "/dev/pts"});
  b.add(Control::kNone, Op::kUmask, {.number = 022});
  b.add(Control::kFds, Op::kOpenNull, {.number = 0});  // the zygote's own would be shared by all calls, flags and all
  b.add(Control::kNone, Op::kPlaceFd, {.slot = kSlotOutput, .number = 1});
  b.add(Control::kNone, Op::kPlaceFd, {.slot = kSlotError, .number = 2});
  b.add(Control::kNone, Op::kPlaceFd, {.slot = kSlotControl, .number = 3});
  b.add(Control::kCaps, Op::kDropBounding, {.number = 0});
  if (own_uid) b.add(Control::kUid, Op::kSetIds, {.number = kOwnUid, .number2 = kOwnUid});
  b.add(Control::kCaps, Op::kSetCaps, {.number = 0});
  b.add(Control::kNone, Op::kDumpable, {.number = 1});
  b.add(Control::kNone, Op::kChangeDirectory, {.text = "/home/user"});
  b.add(Control::kNoNewPrivs, Op::kNoNewPrivs);
  confine_paths(b, RootMode::kTemplate, abilities);
  set_rlimits(b, policy.limits, joins);  // after the last step that opens something: see sandbox_plan()
  b.add(Control::kFds, Op::kCloseFrom, {.number = 4});
  b.add_program(Control::kSeccomp, seccomp_program(SyscallProfile::kCall));
  return b.take();
}

#ifdef BELLJAR_TEST_SWITCHES
void remove_control(Plan& plan, Control control) {
  std::erase_if(plan.steps, [control](const Step& step) { return step.control == control; });
}
#endif

}  // namespace bj
