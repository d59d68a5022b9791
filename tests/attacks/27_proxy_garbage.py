# attack: what is no proxy request
# family: 27
# runs: exec
# stopped-by: design
# network: {"rules": [{"allow": "allowed.example"}]}
#
# Half requests, SOCKS4, BIND and UDP, heads without an end: the proxy's port is open to all that runs inside.
import socket

_ODD = (
    b"\0" * 5000,
    b"\4\1\0\x50\1\2\3\4x\0",
    b"\5",
    b"\5\xff" + b"\1" * 255,
    b"\5\1\0\5\2\0\1\1\1\1\1\0\x50",
    b"\5\1\0\5\3\0\1\1\1\1\1\0\x50",
    b"GET / HTTP/1.1\r\n\r\n",
    b"CONNECT HTTP/1.1\r\n\r\n",
    b"CONNECT :80 HTTP/1.1\r\n\r\n",
    b"CONNECT allowed.example:99999 HTTP/1.1\r\n\r\n",
    b"CONNECT allowed.example HTTP/1.1\r\n\r\n",
    b"GET ftp://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n",
    b"GET http:allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n",
    b"GET http://allowed.example/ HTTP/1.1\r\n" + b"X: y\r\n" * 20000,
    b"\x16\3\1\xff\xff" + b"a" * 70000,
    b"A" * 200000,
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


def attack():
    for odd in _ODD:
        answer = _talk("127.0.0.1", 15001, odd)
        if b'"server"' in answer or b" 200 " in answer:
            return f"ESCAPED: {odd[:40]!r} got through"
    idle = [socket.create_connection(("127.0.0.1", 15001), 5) for _ in range(100)]
    good = _talk("127.0.0.1", 15001, b"GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n")
    if b"93.184.216.34" not in good:
        return f"ESCAPED: after that, and with {len(idle)} idle connections, the proxy does not answer"
    return "HELD: refused one by one, and the next request is served"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
