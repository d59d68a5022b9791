# attack: mount, bind, remount read-write, unmount
# family: 7
# runs: call exec root
# stopped-by: seccomp
# needs: x86_64
#
# Each must be refused before the kernel looks at a path: a name that does not exist tells which it was.
import ctypes
import errno
import os

_MOUNT, _UMOUNT2 = 165, 166
_RDONLY, _REMOUNT, _BIND, _DETACH = 1, 32, 4096, 2

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()
_REFUSED = (-errno.EPERM, -errno.ENOSYS)  # what a filter answers; anything else is the kernel's own voice


def attack():
    os.makedirs("/tmp/mount", exist_ok=True)
    tries = {
        "mount a tmpfs": (_MOUNT, b"none", b"/tmp/mount", b"tmpfs", 0, None),
        "bind /": (_MOUNT, b"/", b"/tmp/mount", None, _BIND, None),
        "remount / read-write": (_MOUNT, None, b"/", None, _REMOUNT | _BIND, None),
        "remount /proc read-write": (_MOUNT, None, b"/proc", None, _REMOUNT | _BIND, None),
        "mount a second proc": (_MOUNT, b"proc", b"/tmp/mount", b"proc", 0, None),
        "mount sysfs": (_MOUNT, b"sysfs", b"/tmp/mount", b"sysfs", _RDONLY, None),
        "mount cgroup": (_MOUNT, b"cgroup", b"/tmp/mount", b"cgroup", 0, b"memory"),
        "mount nowhere": (_MOUNT, None, b"/no/such/place", None, _BIND, None),
        "unmount nowhere": (_UMOUNT2, b"/no/such/place", _DETACH),
        "uncover a masked file": (_UMOUNT2, b"/proc/kallsyms", _DETACH),
    }
    for what, call in tries.items():
        result = _syscall(*call)
        if result not in _REFUSED:
            return f"ESCAPED: {what}: " + ("done" if result >= 0 else os.strerror(-result))
    return "HELD: every mount and unmount is refused"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
