# attack: the kernel's log
# family: 10
# runs: call exec root
# stopped-by: seccomp caps userns
# needs: x86_64
#
# Addresses, other tenants' crashes, the names of their programs.
import ctypes
import errno

_SYSLOG, _READ_ALL, _SIZE = 103, 3, 10

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()
_REFUSED = (-errno.EPERM, -errno.ENOSYS)  # what a filter answers; anything else is the kernel's own voice


def attack():
    buffer = ctypes.create_string_buffer(256)
    for action in (_READ_ALL, _SIZE):
        result = _syscall(_SYSLOG, action, buffer, 256)
        if result not in _REFUSED:
            return f"ESCAPED: syslog answered {result}"
    for path in ("/dev/kmsg", "/proc/kmsg", "/var/log/kern.log", "/var/log/dmesg"):
        try:
            with open(path, "rb", buffering=0) as log:
                if log.read(16):
                    return f"ESCAPED: read {path}"
        except OSError:
            pass
    return "HELD: the kernel's log is closed"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
