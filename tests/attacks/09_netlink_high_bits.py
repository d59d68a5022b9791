# attack: a forbidden socket family with noise in the register's upper half
# family: 9
# runs: call exec root
# stopped-by: seccomp
# needs: x86_64
#
# The kernel takes 32 bits of the argument, a filter compares 64: a deny-list is passed by adding 2^32.
import ctypes
import errno
import os

_SOCKET, _NETLINK, _RAW = 41, 16, 3

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()


def attack():
    result = _syscall(_SOCKET, (1 << 32) | _NETLINK, _RAW, 0)
    if result >= 0:
        os.close(result)
        return "ESCAPED: a netlink socket opened"
    if result in (-errno.EPERM, -errno.ENOSYS, -errno.EACCES, -errno.EAFNOSUPPORT):
        return "HELD: " + os.strerror(-result)
    return f"ESCAPED: the socket call got through: {os.strerror(-result)}"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
