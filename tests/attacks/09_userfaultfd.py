# attack: the kernel stopped at will by userfaultfd()
# family: 9
# runs: call exec root
# stopped-by: seccomp
# needs: x86_64
#
# Turns races in the kernel into certainties: used by most exploits of use-after-free bugs.
import ctypes
import errno
import os

_CALLS = {
    "userfaultfd(user mode only)": (323, 1),
    "userfaultfd": (323, 0),
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
