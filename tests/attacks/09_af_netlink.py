# attack: the kernel's configuration by AF_NETLINK
# family: 9
# runs: call exec root
# stopped-by: seccomp
#
# nf_tables and traffic control are the most exploited parts of the kernel (CVE-2024-1086), and this is
# their door.
import errno
import socket

_FAMILY, _TYPE, _PROTOCOL = 16, 3, 0


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
