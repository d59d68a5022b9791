# attack: the machine's huge pages, which no memory limit counts
# family: 24
# runs: call exec root
# stopped-by: seccomp
# needs: x86_64
#
# Pages that the host set aside for its database belong to whoever asks first, and memory cgroups leave them out.
# A kernel without any answers ENOMEM; EPERM and ENOSYS are the filter.
import ctypes
import errno
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_MMAP, _MEMFD, _SHMGET = 9, 319, 29
_PRIVATE_ANONYMOUS_HUGE, _READ_WRITE = 0x02 | 0x20 | 0x40000, 3
_SIZE = 2 << 20


def _refused(*call):
    arguments = [ctypes.c_long(value) if isinstance(value, int) else value for value in call]
    result = _libc.syscall(*arguments)
    return result < 0 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS), ctypes.get_errno()


def attack():
    ways = {
        "mmap(MAP_HUGETLB)": (_MMAP, 0, _SIZE, _READ_WRITE, _PRIVATE_ANONYMOUS_HUGE, -1, 0),
        "memfd_create(MFD_HUGETLB)": (_MEMFD, b"huge", 4),
        "shmget(SHM_HUGETLB)": (_SHMGET, 0, _SIZE, 0o4000 | 0o1000 | 0o600),
    }
    for name, call in ways.items():
        refused, error = _refused(*call)
        if not refused:
            return f"ESCAPED: {name} got through: {os.strerror(error)}"
    return "HELD: huge pages are refused"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
