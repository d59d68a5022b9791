#include "seal/abilities.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "sys/clone.h"
#include "sys/files.h"
#include "sys/machine_root.h"
#include "sys/mount.h"
#include "sys/pipe.h"
#include "sys/raw.h"
#include "sys/wait.h"

namespace bj {
namespace {

constexpr uint64_t kCapSysAdmin = 1ull << 21;

bool has_sys_admin() {
  const std::string status = read_file("/proc/self/status").value_or("");
  const size_t at = status.find("CapEff:");
  return at != std::string::npos && (std::stoull(status.substr(at + 7), nullptr, 16) & kCapSysAdmin) != 0;
}

// What the probe's child found out, by errno.
struct Findings {
  int user_namespace = 0;
  int overlay = 0;
  int proc_subset = 0;
};

// Whether this kernel lets us give the option to such a filesystem; nothing is mounted. By errno.
int try_option(const char* type, const char* key, const char* value) {
  const long context = raw::call(raw::kNrFsopen, raw::address(type), FSOPEN_CLOEXEC);
  if (context < 0) return static_cast<int>(-context);
  const unsigned command = value != nullptr ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;
  const long set = raw::call(raw::kNrFsconfig, context, command, raw::address(key), raw::address(value), 0);
  (void)raw::call(__NR_close, context);
  return static_cast<int>(-set);
}

// In a user namespace of its own, because that is where a sandbox's mounts are made. It runs in a clone of a process
// that may have threads: nothing here may allocate.
Findings look_inside() {
  Findings found;
  found.user_namespace = static_cast<int>(-raw::call(__NR_unshare, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID));
  if (found.user_namespace != 0) {
    found.overlay = found.proc_subset = found.user_namespace;
    return found;
  }
  found.overlay = try_option("overlay", "userxattr", nullptr);
  found.proc_subset = try_option("proc", "subset", "pid");
  return found;
}

Result<Findings> probe_in_child() {
  BJ_TRY(Pipe pipe, make_pipe());
  const Cloned child = clone_process(0);
  if (child.pid < 0) return fail_with(-child.pid, "clone3");
  if (child.pid == 0) {
    const Findings found = look_inside();
    (void)!::write(pipe.write.get(), &found, sizeof found);
    ::_exit(0);
  }
  ::close(child.pidfd);
  pipe.write.reset();
  Findings found;
  const bool whole = ::read(pipe.read.get(), &found, sizeof found) == sizeof found;
  (void)wait_for_child(child.pid);
  if (!whole) return fail(Code::kUnavailable, "the probe ended early");
  return found;
}

// A mount of /usr that shows another user namespace's ids; needs root and a filesystem that can.
Result<void> try_idmap() {
  const pid_t parent = ::getpid();
  const Cloned child = clone_process(CLONE_NEWUSER);
  if (child.pid < 0) return fail_with(-child.pid, "clone3(CLONE_NEWUSER)");
  if (child.pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);  // or it would wait for ever for who was killed meanwhile
    if (::getppid() == parent) ::pause();
    ::_exit(0);
  }
  const std::string proc = "/proc/" + std::to_string(child.pid);
  Result<void> done = put_text(AT_FDCWD, proc + "/uid_map", "0 1879048192 65536");
  if (done) done = put_text(AT_FDCWD, proc + "/gid_map", "0 1879048192 65536");
  if (done) {
    const Result<Fd> ns = open_path(proc + "/ns/user", O_RDONLY);
    const Result<Fd> tree = clone_tree(AT_FDCWD, "/usr", Recursive::kNo);
    if (!ns || !tree) {
      done = fail(Code::kUnavailable, !ns ? ns.error().what : tree.error().what);
    } else {
      done = set_mount_attributes(tree->get(), 0, ns->get());
    }
  }
  ::kill(child.pid, SIGKILL);
  ::close(child.pidfd);
  (void)wait_for_child(child.pid);
  return done;
}

Ability from_errno(int error, const std::string& yes, const std::string& remedy) {
  if (error == 0) return {true, yes};
  return {false, std::string(std::strerror(error)) + "; " + remedy};
}

// What a sandbox writes lies in a tmpfs. An overlay notes there, as a user attribute, that a directory hides the one
// below it; without such attributes it refuses to remove or rename a directory of the template.
Ability probe_replaced_directories() {
  const Result<Fd> file = anonymous_file("probe", "");
  const char mark = 'y';
  const bool can = file && ::fsetxattr(file->get(), "user.belljar", &mark, 1, 0) == 0;
  return {
      can,
      can ? "yes"
          : "tmpfs has no user attributes here: removing or renaming a directory of the template fails inside (EIO); "
            "needs a kernel >= 6.6 (Debian 12: linux-image-amd64 of bookworm-backports)"};
}

void probe_landlock(Abilities& abilities) {
  const long abi = ::syscall(raw::kNrLandlockCreate, nullptr, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */);
  abilities.landlock_abi = abi > 0 ? static_cast<int>(abi) : 0;
  abilities.landlock = abi > 0 ? Ability{true, "ABI " + std::to_string(abi)}
                               : Ability{false, "not in this kernel; boot with lsm=landlock,... or a kernel >= 5.13"};
}

}  // namespace

Abilities probe_abilities() {
  Abilities abilities;
  abilities.root = is_machine_root() && has_sys_admin();
  const Findings found = probe_in_child().value_or(Findings{EIO, EIO, EIO});
  abilities.user_namespaces = from_errno(found.user_namespace, "yes",
                                         "run as root, or allow them: sysctl kernel.unprivileged_userns_clone=1 "
                                         "(Ubuntu: kernel.apparmor_restrict_unprivileged_userns=0)");
  abilities.overlay =
      from_errno(found.overlay, "in user namespaces", "needs a kernel >= 5.11 with overlayfs (modprobe overlay)");
  abilities.replaced_directories = probe_replaced_directories();
  abilities.proc_subset =
      from_errno(found.proc_subset, "subset=pid", "needs a kernel >= 5.8; calls see all of /proc, read-only");
  if (!abilities.root) {
    abilities.idmapped_mounts = {false, "needs root; files of the host's root belong to nobody inside"};
  } else if (const Result<void> idmap = try_idmap(); idmap) {
    abilities.idmapped_mounts = {true, "yes"};
  } else {
    abilities.idmapped_mounts = {
        false, idmap.error().what + "; the filesystem of /usr can't (ext4, xfs, btrfs can, kernel >= 5.19)"};
  }
  const uint32_t action = SECCOMP_RET_KILL_PROCESS;
  const bool seccomp = ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
  abilities.seccomp = {seccomp, seccomp ? "yes" : "not in this kernel (CONFIG_SECCOMP_FILTER)"};
  probe_landlock(abilities);
  return abilities;
}

}  // namespace bj
