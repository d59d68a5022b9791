# attack: system calls younger than the filter
# family: 9
# runs: call exec root
# stopped-by: seccomp
#
# Default deny or default allow? listmount and statmount show the mounts of the whole namespace,
# memfd_secret memory that nobody else can inspect; the rest is young.
import ctypes
import errno
import os

_CALLS = {
    "listmount": (458, (ctypes.c_uint64 * 3)(24, 0xFFFFFFFFFFFFFFFF, 0), (ctypes.c_uint64 * 8)(), 8, 0),
    "statmount": (457, None, None, 0, 0),
    "lsm_list_modules": (461, None, None, 0),
    "memfd_secret": (447, 0),
    "process_mrelease": (448, -1, 0),
    "quotactl_fd": (443, -1, 0, 0, None),
    "process_madvise": (440, -1, None, 0, 0, 0),
    "setxattrat": (463, -100, None, 0, None, None, 0),
    "file_setattr": (469, -100, None, None, 0, 0),
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
