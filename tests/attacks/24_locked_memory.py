# attack: memory that can never be swapped or reclaimed
# family: 24
# runs: call exec root
# stopped-by: rlimits
#
# mlock takes pages away from everybody else.
import ctypes
import errno
import os

_libc = ctypes.CDLL(None, use_errno=True)


def attack():
    size = 4 << 20
    memory = ctypes.create_string_buffer(size)
    if _libc.mlock(memory, ctypes.c_size_t(size)) == 0:
        _libc.munlock(memory, ctypes.c_size_t(size))
        return "ESCAPED: 4 MB locked"
    error = ctypes.get_errno()
    if error in (errno.ENOMEM, errno.EPERM, errno.EAGAIN):
        return "HELD: " + os.strerror(error)
    return "BROKEN: mlock: " + os.strerror(error)


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
