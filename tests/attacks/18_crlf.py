# attack: line ends inside names and targets
# family: 18
# runs: exec
# stopped-by: design
# network: {"rules": [{"allow": "allowed.example"}]}
#
# A name with a line end in it becomes a header, or a request, of the proxy's own.
import socket

_NAMES = (
    b"allowed.example\r\nHost: other.example",
    b"allowed.example\nX-Forwarded-Host: other.example",
    b"allowed.example%0d%0aHost:%20other.example",
    b"allowed.example\rHost: other.example",
    b"allowed.example\0Host: other.example",
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
    request = b"GET / HTTP/1.1\r\nHost: allowed.example\r\nConnection: close\r\n\r\n"
    if b'"host": "allowed.example"' not in _talk(
        "127.0.0.1", 15001, b"GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n"
    ):
        return "BROKEN: not even the right name is answered"
    for name in _NAMES:
        for text in (
            b"GET http://" + name + b"/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n",
            b"CONNECT " + name + b":80 HTTP/1.1\r\n\r\n" + request,
            b"GET http://allowed.example/ HTTP/1.1\r\nHost: " + name + b"\r\n\r\n",
        ):
            answer = _talk("127.0.0.1", 15001, text)
            if b'"host": "other.example"' in answer or b"93.184.216.35" in answer:
                return f"ESCAPED: {name!r} became another host"
        if b"93.184.216.35" in _socks(name, 80, request):
            return f"ESCAPED: SOCKS took {name!r} for another host"
    return "HELD: no line end gets into a request of the gate's"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
