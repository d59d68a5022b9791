# attack: addresses written as numbers and as odd names
# family: 18
# runs: exec
# stopped-by: design
# network: "open"
#
# 169.254.169.254 is also 2852039166 and 0251.0376.0251.0376; filters that compare text see neither.
import socket

_PLACES = (
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.16689662",
    "0xa9.0xfe.0xa9.0xfe",
    "127.1",
    "0177.0.0.1",
    "0",
    "2130706433",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[::1]",
    "[::]",
    "[64:ff9b::169.254.169.254]",
    "[2002:a9fe:a9fe::1]",
    "[fe80::1%25lo]",
    "[fe80::1%lo]",
    "169.254.169.254.",
    "127.0.0.1.",
    "①⑥⑨.254.169.254",
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


def _socks(name, port, text):
    """Through the gate's SOCKS5, by name: the bytes of `name` as they are."""
    hello = b"\5\1\0" + b"\5\1\0\3" + bytes([len(name)]) + name + port.to_bytes(2, "big")
    return _talk("127.0.0.1", 15001, hello + text)


def attack():
    request = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    if b"93.184.216.34" not in _socks(b"allowed.example", 80, request.replace(b": x", b": allowed.example")):
        return "BROKEN: the allowed name does not answer"
    for place in _PLACES:
        for port in (80, 8080):
            by_connect = _talk("127.0.0.1", 15001, f"CONNECT {place}:{port} HTTP/1.1\r\n\r\n".encode() + request)
            by_socks = _socks(place.strip("[]").encode(), port, request)
            by_url = _talk(
                "127.0.0.1",
                15001,
                f"GET http://{place}:{port}/ HTTP/1.1\r\nHost: {place}:{port}\r\nConnection: close\r\n\r\n".encode(),
            )
            if b'"server"' in by_connect + by_socks + by_url:
                return f"ESCAPED: {place}:{port} answered"
    return "HELD: no spelling of a forbidden address is reached"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
