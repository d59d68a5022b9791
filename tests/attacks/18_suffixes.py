# attack: names that end or begin like an allowed one
# family: 18
# runs: call exec
# stopped-by: gate-names
# network: {"rules": [{"allow": "allowed.example"}]}
#
# evilgithub.com ends like github.com; rules that compare ends of strings let it through.
import socket
import struct

_LOOK_ALIKES = (
    "evilallowed.example",
    "allowed.example.evil.example",
    "allowed-example",
    "allowed.exampl",
    "api.allowed.example",
    "allowed.example.allowed.example",
    "example",
    "xn--allowed.example",
    "other.example",
    "OTHER.example",
)


def _ask(labels, kind=1, server="198.18.0.1"):
    """(code, number of answers) of a question by UDP, its labels as bytes."""
    name = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.settimeout(5)
        s.connect((server, 53))
        s.send(struct.pack(">6H", 7, 256, 1, 0, 0, 0) + name + struct.pack(">2H", kind, 1))
        answer = s.recv(4096)
    return answer[3] & 15, struct.unpack(">H", answer[6:8])[0]


def attack():
    if _ask([b"AlLoWeD", b"eXaMpLe"]) != (0, 1):
        return "BROKEN: not even the allowed name has an address"
    found = [name for name in _LOOK_ALIKES if _ask([label.encode() for label in name.split(".")])[1] > 0]
    return "ESCAPED: an address for " + " ".join(found) if found else "HELD: none of them exists"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
