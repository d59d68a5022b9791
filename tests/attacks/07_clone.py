# attack: new namespaces by clone()
# family: 7
# runs: call exec root
# stopped-by: seccomp
# needs: x86_64
#
# The same door with another handle; the upper half of the flags is noise that a filter must not trip on.
import ctypes
import errno
import os
import signal

_CLONE = 56
_NEWUSER, _NEWNS, _NEWPID, _NEWNET = 0x10000000, 0x00020000, 0x20000000, 0x40000000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()


def attack():
    for upper in (0, 0x100 << 32):
        flags = upper | _NEWUSER | _NEWNS | _NEWPID | _NEWNET | signal.SIGCHLD
        result = _syscall(_CLONE, flags, 0, 0, 0, 0)
        if result == 0:
            os._exit(0)
        if result > 0:
            os.waitpid(result, 0)
            return "ESCAPED: made user, mount, pid and network namespaces"
        if result not in (-errno.EPERM, -errno.ENOSYS, -errno.ENOSPC):
            return f"ESCAPED: clone got through: {os.strerror(-result)}"
    return "HELD: clone with namespaces is refused"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
