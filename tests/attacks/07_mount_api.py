# attack: the newer mount calls: open_tree, move_mount, fsopen, mount_setattr
# family: 7
# runs: call exec root
# stopped-by: seccomp
#
# Filters older than 2019 know mount() only (flatpak CVE-2021-41133).
import ctypes
import errno
import os

_CALLS = {  # harmless arguments; those of the last four are wrong, and only the kernel would say so
    "open_tree": (428, -100, b"/", 0),
    "open_tree_attr": (467, -100, b"/", 0, None, 0),
    "fsopen": (430, b"tmpfs", 0),
    "fspick": (433, -100, b"/", 0),
    "fsmount": (432, -1, 0, 0),
    "move_mount": (429, -1, b"", -1, b"", 0),
    "fsconfig": (431, -1, 6, None, None, 0),
    "mount_setattr": (442, -1, b"", 0xFFFFFFF, None, 0),
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
            return f"ESCAPED: {name} got through: " + (f"descriptor {result}" if result >= 0 else os.strerror(-result))
    return "HELD: the mount calls are refused"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
