# attack: memory of processes by process_vm_readv and process_vm_writev
# family: 8
# runs: call exec root
# stopped-by: seccomp
# needs: x86_64
#
# ptrace without stopping anybody. One's own memory is the test: allowed there, allowed on every
# process of the same user.
import ctypes
import errno
import os

_READV, _WRITEV = 310, 311

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()
_REFUSED = (-errno.EPERM, -errno.ENOSYS)  # what a filter answers; anything else is the kernel's own voice


class _Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def attack():
    source, target = ctypes.create_string_buffer(b"secret"), ctypes.create_string_buffer(7)
    remote = _Iovec(ctypes.addressof(source), 6)
    local = _Iovec(ctypes.addressof(target), 6)
    for number in (_READV, _WRITEV):
        result = _syscall(number, os.getpid(), ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
        if result not in _REFUSED:
            return f"ESCAPED: process_vm call {number} got through: {result}"
    return "HELD: process_vm_readv and process_vm_writev are refused"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
