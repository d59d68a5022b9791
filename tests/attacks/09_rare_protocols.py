# attack: protocols of ordinary socket families that load a kernel module when first asked for
# family: 9
# runs: call exec root
# stopped-by: seccomp
#
# AF_INET is allowed, but SCTP (CVE-2021-23133), DCCP (CVE-2017-6074), L2TP and UDP-Lite come with it: one socket() call
# of an ordinary user makes the host's kernel load them.
import errno
import os
import socket

_RARE = {"SCTP": (socket.SOCK_SEQPACKET, 132), "SCTP stream": (socket.SOCK_STREAM, 132), "DCCP": (6, 33),
         "UDP-Lite": (socket.SOCK_DGRAM, 136), "L2TP": (socket.SOCK_DGRAM, 115), "SMC": (socket.SOCK_STREAM, 256),
         "MPTCP": (socket.SOCK_STREAM, 262)}


def attack():
    for family in (socket.AF_INET, socket.AF_INET6):
        for name, (kind, protocol) in _RARE.items():
            try:
                socket.socket(family, kind, protocol).close()
            except OSError as error:
                if error.errno in (errno.EPERM, errno.ENOSYS):
                    continue
                return f"ESCAPED: {name} got through: {os.strerror(error.errno)}"
            return f"ESCAPED: a socket of {name} opened"
    for kind, protocol in ((socket.SOCK_STREAM, 6), (socket.SOCK_DGRAM, 17), (socket.SOCK_STREAM, 0)):
        socket.socket(socket.AF_INET, kind, protocol).close()
    return "HELD: TCP and UDP only"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
