# attack: System V message queues (looked for)
# family: 14
# runs: call exec
# stopped-by: ipcns
# pair: find
# pair-name: sysv_queue
#
# The next sandbox, or the next call. Takes it away if it may.
import ctypes
import errno
import os

_libc = ctypes.CDLL(None, use_errno=True)
_KEY, _REMOVE = 0x424A0002, 0


def attack():
    queue = _libc.msgget(_KEY, 0o666)
    if queue >= 0:
        _libc.msgctl(queue, _REMOVE, None)
        return "ESCAPED: a message queue of another is there"
    error = ctypes.get_errno()
    return "HELD: nothing is left" if error == errno.ENOENT else "BROKEN: msgget: " + os.strerror(error)


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
