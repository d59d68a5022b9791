# attack: questions that break readers
# family: 19
# runs: exec
# stopped-by: design
# network: {"rules": [{"allow": "allowed.example"}]}
#
# Names that point at themselves, counts without records, lengths beyond the packet: the reader is ours, so it is
# attacked.
import socket
import struct

_HEAD = struct.pack(">6H", 7, 256, 1, 0, 0, 0)
_ODD = (
    b"",
    b"\0",
    _HEAD,
    _HEAD + b"\xc0\x0c\0\1\0\1",
    _HEAD + b"\x3f" + b"a" * 10,
    _HEAD + b"\xff" * 300,
    struct.pack(">6H", 7, 256, 65535, 0, 0, 0) + b"\0",
    _HEAD + b"\1a" * 200 + b"\0\0\1\0\1",
    struct.pack(">6H", 7, 0x8180, 1, 1, 0, 0) + b"\1a\0\0\1\0\1",
    _HEAD + b"a" * 60000,
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
    for packet in _ODD:
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.connect(("198.18.0.1", 53))
            s.send(packet)
        _ = packet and socket.create_connection(("198.18.0.1", 53), 5).close()
        with socket.create_connection(("198.18.0.1", 53), 5) as s:
            s.sendall(struct.pack(">H", min(len(packet), 65535)) + packet[:65535])
    if _ask([b"allowed", b"example"]) != (0, 1):
        return "ESCAPED: the name server is gone"
    return "HELD: it answers as before"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
