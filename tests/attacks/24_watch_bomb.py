# attack: inotify instances without end
# family: 24
# runs: call exec root
# stopped-by: design
#
# A machine has few of them for each user: taking all stops every file watcher of the same user.
import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_ENOUGH = 4096


def attack():
    opened = []
    while len(opened) < _ENOUGH:
        fd = _libc.inotify_init1(0)
        if fd < 0:
            break
        opened.append(fd)
    error = os.strerror(ctypes.get_errno())
    for fd in opened:
        os.close(fd)
    if len(opened) == _ENOUGH:
        return f"ESCAPED: {_ENOUGH} inotify instances"
    return f"HELD: after {len(opened)}: {error}"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
