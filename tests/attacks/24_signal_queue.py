# attack: signals queued in the kernel without end
# family: 24
# runs: call exec root
# stopped-by: rlimits
#
# Each queued signal is kernel memory of the user's; blocked, they wait for ever.
import ctypes
import errno
import os
import signal

_libc = ctypes.CDLL(None, use_errno=True)
_ENOUGH = 20000


def attack():
    number = signal.SIGRTMIN + 3
    signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    for sent in range(_ENOUGH):
        if _libc.sigqueue(os.getpid(), number, ctypes.c_void_p(0)) != 0:
            error = ctypes.get_errno()
            return f"HELD: after {sent} signals" if error == errno.EAGAIN else "BROKEN: " + os.strerror(error)
    return f"ESCAPED: {_ENOUGH} signals wait in the kernel"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
