# attack: names with bytes that end them for one reader only
# family: 18
# runs: exec
# stopped-by: design
# network: {"rules": [{"allow": "*.allowed.example"}]}
#
# The rule looks at the end of the name, the resolver reads up to the NUL (or #, /, @, a space):
# other.example\0.allowed.example.
import socket
import struct

_TAIL = b"allowed", b"example"
_ODD = (
    b"other.example\0",
    b"other.example",
    b"other.example#",
    b"other.example/",
    b"other.example?",
    b"other.example@",
    b"other.example:80",
    b"other.example\\",
    b"other.example ",
    b"other.example\r\n",
    b"\xc0\x0c",
    "other。example".encode(),
    b"\xff",
)


def _talk(host, port, text):
    """What comes back until the other side ends, or as much as came before it reset."""
    got = b""
    try:
        with socket.create_connection((host, port), 5) as s:
            s.sendall(text)
            while part := s.recv(65536):
                got += part
    except OSError:
        pass
    return got


def _ask(labels, kind=1, server="198.18.0.1"):
    """(code, number of answers) of a question by UDP, its labels as bytes."""
    name = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.settimeout(5)
        s.connect((server, 53))
        s.send(struct.pack(">6H", 7, 256, 1, 0, 0, 0) + name + struct.pack(">2H", kind, 1))
        answer = s.recv(4096)
    return answer[3] & 15, struct.unpack(">H", answer[6:8])[0]


def _socks(name, port, text):
    """Through the gate's SOCKS5, by name: the bytes of `name` as they are."""
    hello = b"\5\1\0" + b"\5\1\0\3" + bytes([len(name)]) + name + port.to_bytes(2, "big")
    return _talk("127.0.0.1", 15001, hello + text)


def _elsewhere(answer):
    return b'"server"' in answer and b"93.184.216.34" not in answer


def attack():
    request = b"GET / HTTP/1.1\r\nHost: api.allowed.example\r\nConnection: close\r\n\r\n"
    if b"93.184.216.34" not in _socks(b"api.allowed.example", 80, request):
        return "BROKEN: the allowed name does not answer by SOCKS"
    for odd in _ODD:
        if _ask([odd, *_TAIL])[1] > 0:
            return f"ESCAPED: the name server knows {odd!r} below the allowed name"
        name = odd + b".allowed.example"
        if _elsewhere(_socks(name, 80, request)):
            return f"ESCAPED: SOCKS led elsewhere by {name!r}"
        if _elsewhere(_talk("127.0.0.1", 15001, b"CONNECT " + name + b":80 HTTP/1.1\r\n\r\n" + request)):
            return f"ESCAPED: CONNECT led elsewhere by {name!r}"
    return "HELD: names of letters, digits and hyphens only"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
