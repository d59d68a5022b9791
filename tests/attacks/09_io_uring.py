# attack: system calls that no filter sees, by io_uring
# family: 9
# runs: call exec root
# stopped-by: seccomp
#
# What a ring does is not filtered: openat, connect and the rest. Also the largest source of kernel
# exploits since 2021. The second call has wrong arguments, which only the kernel would notice.
import ctypes
import errno
import os

_CALLS = {
    "io_uring_setup": (425, 4, ctypes.create_string_buffer(120)),
    "io_uring_enter": (426, -1, 0, 0, 0, None, 0),
    "io_uring_register": (427, -1, 0, None, 0),
}

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()
_REFUSED = (-errno.EPERM, -errno.ENOSYS)  # what a filter answers; anything else is the kernel's own voice


def attack():
    for name, call in _CALLS.items():
        result = _syscall(*call)
        if result not in _REFUSED:
            return f"ESCAPED: {name} got through: " + (str(result) if result >= 0 else os.strerror(-result))
    return "HELD: " + ", ".join(_CALLS) + " refused"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
