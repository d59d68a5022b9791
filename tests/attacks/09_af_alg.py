# attack: the kernel's crypto by AF_ALG
# family: 9
# runs: call exec root
# stopped-by: seccomp
# needs: af_alg
#
# Copy Fail, CVE-2026-31431: AF_ALG with splice wrote into the page cache of files that could only be
# read. Nothing in a sandbox needs it.
import errno
import socket

_FAMILY, _TYPE, _PROTOCOL = 38, 5, 0


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
