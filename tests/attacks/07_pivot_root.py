# attack: pivot_root to a directory of one's own
# family: 7
# runs: call exec root
# stopped-by: seccomp caps landlock
# needs: x86_64
#
# Who may choose the root chooses what every absolute path means.
import ctypes
import errno
import os

_PIVOT_ROOT = 155

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()


def attack():
    os.makedirs("/tmp/root/old", exist_ok=True)
    result = _syscall(_PIVOT_ROOT, b"/tmp/root", b"/tmp/root/old")
    if result in (-errno.EPERM, -errno.ENOSYS):
        return "HELD: pivot_root: " + os.strerror(-result)
    return "ESCAPED: pivot_root got through: " + ("done" if result == 0 else os.strerror(-result))


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
