# attack: pages merged with those of others
# family: 14
# runs: call exec root
# stopped-by: seccomp
#
# Where the kernel merges equal pages (KSM), the first write to one that was merged takes longer: whoever guesses what
# lies in a page of another tenant, or of a virtual machine beside it, sees that he was right.
import ctypes
import errno
import mmap
import os

_PRCTL, _SET_MERGE, _GET_MERGE = 157, 67, 68
_MERGEABLE, _UNMERGEABLE = 12, 13

_libc = ctypes.CDLL(None, use_errno=True)


def attack():
    pages = mmap.mmap(-1, 4 * mmap.PAGESIZE)
    try:
        pages.madvise(_MERGEABLE)
    except OSError as error:
        if error.errno != errno.EINVAL:
            return "BROKEN: madvise: " + os.strerror(error.errno)
    else:
        pages.madvise(_UNMERGEABLE)
        return "ESCAPED: its pages may be merged with those of others"
    if _libc.syscall(_PRCTL, _SET_MERGE, 1, 0, 0, 0) == 0:
        _libc.syscall(_PRCTL, _SET_MERGE, 0, 0, 0, 0)
        return "ESCAPED: all of its pages may be merged with those of others"
    return "HELD: its pages are its own"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
