# attack: System V shared memory, which outlives its maker (left)
# family: 14
# runs: call exec
# stopped-by: ipcns
# pair: leave
# pair-name: sysv_memory
#
# A segment has no file and no owner process: only its IPC namespace ends it.
import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_KEY, _CREATE = 0x424A0001, 0o1000


def attack():
    segment = _libc.shmget(_KEY, 4096, _CREATE | 0o666)
    if segment < 0:
        return "BROKEN: shmget: " + os.strerror(ctypes.get_errno())
    return "HELD: left for the next"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
