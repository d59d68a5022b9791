# attack: System V message queues (left)
# family: 14
# runs: call exec
# stopped-by: ipcns
# pair: leave
# pair-name: sysv_queue
#
# Messages wait in the kernel for whoever asks next.
import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_KEY, _CREATE = 0x424A0002, 0o1000


def attack():
    queue = _libc.msgget(_KEY, _CREATE | 0o666)
    message = ctypes.create_string_buffer((1).to_bytes(8, "little") + b"secret")
    if queue < 0 or _libc.msgsnd(queue, message, ctypes.c_size_t(6), 0) != 0:
        return "BROKEN: " + os.strerror(ctypes.get_errno())
    return "HELD: left for the next"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
