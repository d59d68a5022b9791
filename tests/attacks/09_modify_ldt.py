# attack: segment descriptors of one's own by modify_ldt()
# family: 9
# runs: call exec root
# stopped-by: seccomp
# needs: x86_64
#
# CVE-2015-5157 and others: 16-bit segments confuse the way back from the kernel.
import ctypes
import errno
import os

_CALLS = {
    "modify_ldt": (154, 0, ctypes.create_string_buffer(16), 16),
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
