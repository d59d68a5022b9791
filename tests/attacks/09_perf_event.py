# attack: performance counters by perf_event_open()
# family: 9
# runs: call exec root
# stopped-by: seccomp
# needs: x86_64
#
# Side channels and a history of exploits (CVE-2023-5717). Counting one's own CPU clock is what every
# user may do where nobody forbids it.
import ctypes
import errno
import os

_CALLS = {
    "perf_event_open": (298, (ctypes.c_uint32 * 32)(1, 128, 0, 0, 0, 0, 0, 0, 0, 0, 0x60), 0, -1, -1, 0),
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
