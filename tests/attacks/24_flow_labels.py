# attack: the machine's flow labels taken
# family: 24
# runs: call exec root
# stopped-by: seccomp
#
# Labels of IPv6 flows lie in a table of 4096 that all network namespaces share; half of it is anybody's for the asking.
# Two sandboxes that ask leave none to the host and to other sandboxes.
import errno
import os
import socket
import struct

_FLOWLABEL_MGR = 32
_GET, _EXCLUSIVE, _CREATE = 0, 1, 1


def attack():
    request = socket.inet_pton(socket.AF_INET6, "::1") + struct.pack("!I", 0)
    request += struct.pack("=BBHHHI", _GET, _EXCLUSIVE, _CREATE, 6, 6, 0)
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as labels:
        try:
            labels.setsockopt(socket.IPPROTO_IPV6, _FLOWLABEL_MGR, request)
        except OSError as error:
            if error.errno == errno.EPERM:
                return "HELD: there are no labels"
            return "BROKEN: " + os.strerror(error.errno)
    return "ESCAPED: it has one of the machine's labels"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
