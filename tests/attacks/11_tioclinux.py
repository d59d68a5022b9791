# attack: pasting into the console by TIOCLINUX
# family: 11
# runs: call exec root
# stopped-by: seccomp
# needs: x86_64
#
# CVE-2023-1523 (snapd): the console's own selection and paste, the same injection by another door.
import ctypes
import errno
import os

_IOCTL, _TIOCSCTTY = 16, 0x540E

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()


def _own_terminal():
    """In a child with a session of its own: a terminal that is really its controlling one."""
    os.setsid()
    try:
        master, slave = os.openpty()
    except OSError:
        return 0
    _syscall(_IOCTL, slave, _TIOCSCTTY, 0)
    return slave


def attack():
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        result = _syscall(_IOCTL, _own_terminal(), 0x541C, ctypes.create_string_buffer(b"\x02"))
        os.write(writer, str(result).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    result = int(os.read(reader, 32))
    if result == -errno.EPERM:
        return "HELD: the ioctl is refused"
    return "ESCAPED: the ioctl got through: " + ("done" if result >= 0 else os.strerror(-result))


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
