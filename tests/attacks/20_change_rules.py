# attack: deleting the rules as root
# family: 20
# runs: root
# stopped-by: gate-ownership caps seccomp
# network: "open"
#
# If the sandbox's own user namespace owned the network, its root could flush what holds it.
import socket
import struct

_NETFILTER, _BEGIN, _END, _DELETE_TABLE = 12, 16, 17, (10 << 8) | 2


def _message(kind, flags, sequence, family, resource, attributes=b""):
    body = struct.pack(">BBH", family, 0, resource) + attributes
    return struct.pack("=IHHII", 16 + len(body), kind, flags, sequence, 0) + body


def attack():
    try:
        rules = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETFILTER)
    except OSError as error:
        return f"HELD: no netlink: {error.strerror}"
    rules.settimeout(5)
    name = struct.pack("=HH", 9, 1) + b"gate\0\0\0\0"
    rules.send(_message(_BEGIN, 1, 1, 0, 10) + _message(_DELETE_TABLE, 5, 2, 1, 0, name) + _message(_END, 1, 3, 0, 10))
    answer = rules.recv(4096)
    error = struct.unpack("=i", answer[16:20])[0]
    return "ESCAPED: the table is gone" if error == 0 else f"HELD: error {-error}"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
