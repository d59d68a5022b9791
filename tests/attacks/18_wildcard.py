# attack: the domain itself, and look-alikes, under *.allowed.example
# family: 18
# runs: exec
# stopped-by: gate-names
# network: {"rules": [{"allow": "*.allowed.example"}]}
#
# *.example.com means what is below, not itself and not evilexample.com.
import socket
import struct

_NOT_BELOW = (
    "allowed.example",
    "evilallowed.example",
    "api.allowed.example.other.example",
    "api-allowed.example",
    "other.example",
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
    if _ask([b"api", b"allowed", b"example"]) != (0, 1):
        return "BROKEN: not even a name below has an address"
    found = [name for name in _NOT_BELOW if _ask([label.encode() for label in name.split(".")])[1] > 0]
    return "ESCAPED: an address for " + " ".join(found) if found else "HELD: none of them is below it"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
