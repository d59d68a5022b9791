# attack: the hypervisor by AF_VSOCK
# family: 9
# runs: call exec root
# stopped-by: seccomp
# needs: vsock
#
# In a virtual machine this socket reaches the host below, past every network rule.
import errno
import socket

_FAMILY, _TYPE, _PROTOCOL = 40, 1, 0


def attack():
    try:
        socket.socket(_FAMILY, _TYPE, _PROTOCOL).close()
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS, errno.EACCES, errno.EAFNOSUPPORT):
            return f"HELD: {error.strerror}"
        return f"ESCAPED: the socket call got through: {error.strerror}"
    return "ESCAPED: the socket opened"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
