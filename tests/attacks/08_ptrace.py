# attack: ptrace
# family: 8
# runs: call exec root
# stopped-by: seccomp
# needs: x86_64
#
# Takes over any process of the same user, and has a record of kernel bugs of its own (CVE-2019-13272).
import ctypes
import errno
import os

_PTRACE, _TRACEME, _SEIZE = 101, 0, 0x4206

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()
_REFUSED = (-errno.EPERM, -errno.ENOSYS)  # what a filter answers; anything else is the kernel's own voice


def attack():
    pid = os.fork()
    if pid == 0:
        os._exit(-min(0, _syscall(_PTRACE, _TRACEME, 0, 0, 0)))
    error = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if error == 0:
        return "ESCAPED: a process can be traced"
    probe = _syscall(_PTRACE, _SEIZE, 0x7FFFFFF, 0, 0)  # a process that does not exist
    if -error in _REFUSED and probe in _REFUSED:
        return "HELD: ptrace: " + os.strerror(error)
    return f"ESCAPED: ptrace got through: {os.strerror(-probe)}"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
