# attack: all filesystems of the host written out
# family: 24
# runs: call exec root
# stopped-by: seccomp
#
# sync(2) knows no namespaces: it writes out whatever anybody on the machine has changed, and the caller can't be killed
# before that is done. In a loop it takes the host's disk away from everybody, and with it the wall clock's last word.
import ctypes
import errno

_SYNC = 162


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(_SYNC) == 0:
        return "ESCAPED: the host's disks were written to"
    if ctypes.get_errno() != errno.EPERM:
        return f"BROKEN: errno {ctypes.get_errno()}"
    return "HELD: sync is refused"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
