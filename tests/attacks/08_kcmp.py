# attack: the order of kernel pointers by kcmp
# family: 8
# runs: call exec root
# stopped-by: seccomp
# needs: x86_64
#
# Tells whether two processes share a kernel object, and which lies at the lower address.
import ctypes
import errno
import os

_KCMP, _FILE = 312, 0

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()
_REFUSED = (-errno.EPERM, -errno.ENOSYS)  # what a filter answers; anything else is the kernel's own voice


def attack():
    result = _syscall(_KCMP, os.getpid(), os.getpid(), _FILE, 1, 2)
    if result in _REFUSED:
        return "HELD: kcmp: " + os.strerror(-result)
    return f"ESCAPED: kcmp got through: {result}"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
