# attack: cryptography of the kernel through options of ordinary sockets
# family: 9
# runs: call exec root
# stopped-by: seccomp
#
# Who can't have AF_ALG asks a TCP socket: TLS as a layer of it (CVE-2023-0461), segments signed with MD5 or with an
# algorithm of one's choice, IPsec in UDP. Each loads modules and runs code that few have read.
import errno
import os
import socket
import struct

_TCP, _UDP = socket.IPPROTO_TCP, socket.IPPROTO_UDP
_UDP_LITE = 136  # a level that UDP answers to as well
_MD5_KEY = struct.pack("HH4s120xBBH4x80s", socket.AF_INET, 0, socket.inet_aton("127.0.0.1"), 0, 0, 3, b"key")
_OPTIONS = {"TLS": (socket.SOCK_STREAM, _TCP, 31, b"tls\0"), "MD5": (socket.SOCK_STREAM, _TCP, 14, _MD5_KEY),
            "signatures": (socket.SOCK_STREAM, _TCP, 38, bytes(512)),
            "ESP in UDP": (socket.SOCK_DGRAM, _UDP, 100, struct.pack("i", 2)),
            "ESP in UDP by another door": (socket.SOCK_DGRAM, _UDP_LITE, 100, struct.pack("i", 2))}


def attack():
    passed = []
    for name, (kind, level, option, value) in _OPTIONS.items():
        with socket.socket(socket.AF_INET, kind) as one:
            try:
                one.setsockopt(level, option, value)
                passed.append(name)
            except OSError as error:
                if error.errno != errno.EPERM:
                    passed.append(f"{name} ({os.strerror(error.errno)})")
    return "ESCAPED: the kernel was asked for " + ", ".join(passed) if passed else "HELD: none of them got through"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
