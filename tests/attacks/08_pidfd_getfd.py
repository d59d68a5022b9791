# attack: a descriptor out of another process by pidfd_getfd
# family: 8
# runs: call exec root
# stopped-by: seccomp
#
# Takes the warden's socket, or a file that a more privileged program has just opened.
import ctypes
import errno
import os

_PIDFD_OPEN, _PIDFD_GETFD = 434, 438

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()
_REFUSED = (-errno.EPERM, -errno.ENOSYS)  # what a filter answers; anything else is the kernel's own voice


def attack():
    for pid in (1, os.getpid()):
        pidfd = _syscall(_PIDFD_OPEN, pid, 0)
        result = _syscall(_PIDFD_GETFD, pidfd, 0, 0)
        if pidfd >= 0:
            os.close(pidfd)
        if result not in _REFUSED:
            return f"ESCAPED: pidfd_getfd got through for process {pid}: {result}"
    return "HELD: pidfd_getfd is refused"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
