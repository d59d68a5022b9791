# attack: other records than addresses
# family: 19
# runs: exec
# stopped-by: design
# network: {"rules": [{"allow": "allowed.example"}]}
# event: unknown leak.tunnel.example:0
#
# TXT and NULL records are the way back of a DNS tunnel; HTTPS records bring keys that hide the name in TLS.
import socket
import struct

_TYPES = {
    "NS": 2,
    "CNAME": 5,
    "SOA": 6,
    "NULL": 10,
    "PTR": 12,
    "MX": 15,
    "TXT": 16,
    "SRV": 33,
    "HTTPS": 65,
    "SVCB": 64,
    "ANY": 255,
    "AXFR": 252,
}


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
    if _ask([b"allowed", b"example"]) != (0, 1):
        return "BROKEN: not even an address"
    for kind, number in _TYPES.items():
        for name in ("allowed.example", "leak.tunnel.example"):
            try:
                code, answers = _ask([label.encode() for label in name.split(".")], number)
            except OSError:
                continue
            if answers > 0:
                return f"ESCAPED: a {kind} record of {name}"
    return "HELD: addresses only"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
