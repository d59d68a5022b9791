# attack: inotify instances without end
# family: 24
# runs: exec root
# stopped-by: rlimits
#
# A machine has few of them for each user (128 is usual), and the kernel charges them to the owner of the user namespace
# as well: if that is the host's root, a sandbox that takes all stops the file watchers of the host and of every other
# sandbox.
import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_TOO_MANY = 100


def attack():
    opened = []
    while len(opened) < _TOO_MANY:
        fd = _libc.inotify_init1(0)
        if fd < 0:
            break
        opened.append(fd)
    error = os.strerror(ctypes.get_errno())
    for fd in opened:
        os.close(fd)
    if len(opened) == _TOO_MANY:
        return f"ESCAPED: {_TOO_MANY} inotify instances"
    return f"HELD: after {len(opened)}: {error}"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
