# attack: a user namespace of one's own by unshare()
# family: 7
# runs: call exec root
# stopped-by: seccomp
#
# Root of a nested user namespace may mount and configure networks: most kernel exploits of the last
# years start here (CVE-2022-0185, BoxLite CVE-2026-46695).
import ctypes
import errno
import os

_CLONE_NEWUSER = 0x10000000
_libc = ctypes.CDLL(None, use_errno=True)


def attack():
    pid = os.fork()
    if pid == 0:
        os._exit(0 if _libc.unshare(_CLONE_NEWUSER) == 0 else ctypes.get_errno())
    error = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if error in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):  # ENOSPC: user.max_user_namespaces is 0
        return "HELD: unshare: " + os.strerror(error)
    return "ESCAPED: made a user namespace" if error == 0 else f"ESCAPED: unshare got through: {os.strerror(error)}"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
