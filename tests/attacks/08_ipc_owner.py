# attack: another user's shared memory with CAP_IPC_OWNER
# family: 8
# runs: root
# stopped-by: caps
#
# An effect that hangs on a dropped capability alone: root inside reads what user 1000 made private.
import ctypes
import errno
import os

_libc = ctypes.CDLL(None, use_errno=True)
_CREATE, _REMOVE = 0o1000, 0
_KEY = 0x42454C4C


def attack():
    pid = os.fork()
    if pid == 0:
        made = -1
        try:
            os.setresgid(1000, 1000, 1000)
            os.setresuid(1000, 1000, 1000)
            made = _libc.shmget(_KEY, 4096, _CREATE | 0o600)
        finally:
            os._exit(0 if made >= 0 else 1)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
        return "BROKEN: user 1000 could not make shared memory"
    segment = _libc.shmget(_KEY, 4096, 0o600)
    if segment >= 0:
        _libc.shmctl(segment, _REMOVE, None)
        return "ESCAPED: root inside holds CAP_IPC_OWNER"
    error = ctypes.get_errno()
    return "HELD: " + os.strerror(error) if error == errno.EACCES else f"BROKEN: shmget: {os.strerror(error)}"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
