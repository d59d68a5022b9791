# attack: raw frames by AF_PACKET
# family: 9
# runs: call exec root
# stopped-by: seccomp caps netns userns
#
# CVE-2020-14386, CVE-2017-7308; and sees the traffic of others.
import errno
import socket

_FAMILY, _TYPE, _PROTOCOL = 17, 3, 768


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
