# attack: into another's namespaces by setns()
# family: 7
# runs: call exec root
# stopped-by: seccomp
# needs: x86_64
#
# One forgotten descriptor of a namespace, or a pidfd of a process outside, is enough.
import ctypes
import errno
import os

_SETNS = 308

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()
_REFUSED = (-errno.EPERM, -errno.ENOSYS)  # what a filter answers; anything else is the kernel's own voice


def attack():
    for name in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup"):
        try:
            fd = os.open(f"/proc/1/ns/{name}", os.O_RDONLY)
        except OSError:
            continue
        result = _syscall(_SETNS, fd, 0)
        os.close(fd)
        if result == 0 and os.getpid() != 1:
            return f"ESCAPED: entered the {name} namespace of process 1"
    result = _syscall(_SETNS, -1, 0)
    if result in _REFUSED:
        return "HELD: setns: " + os.strerror(-result)
    return f"ESCAPED: setns got through: {os.strerror(-result)}"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
