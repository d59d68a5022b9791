# attack: System V shared memory, which outlives its maker (looked for)
# family: 14
# runs: call exec
# stopped-by: ipcns
# pair: find
# pair-name: sysv_memory
#
# The next sandbox, or the next call. Takes it away if it may.
import ctypes
import errno
import os

_libc = ctypes.CDLL(None, use_errno=True)
_KEY, _REMOVE = 0x424A0001, 0


def attack():
    segment = _libc.shmget(_KEY, 4096, 0o666)
    if segment >= 0:
        _libc.shmctl(segment, _REMOVE, None)
        return "ESCAPED: shared memory of another is there"
    error = ctypes.get_errno()
    return "HELD: nothing is left" if error == errno.ENOENT else "BROKEN: shmget: " + os.strerror(error)


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
