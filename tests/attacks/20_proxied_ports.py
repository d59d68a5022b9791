# attack: other ports and names through the proxies
# family: 20
# runs: call exec
# stopped-by: gate-decision
# network: {"rules": [{"allow": "allowed.example"}]}
#
# A proxy is asked for a place directly: the kernel's set does not stand before it.
import socket


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
    if b'"server"' not in _socks(b"allowed.example", 80, request):
        return "BROKEN: the allowed host does not answer"
    for port in (8080, 8081):
        answers = (
            _socks(b"allowed.example", port, request),
            _talk("127.0.0.1", 15001, b"CONNECT allowed.example:%d HTTP/1.1\r\n\r\n" % port + request),
            _talk(
                "127.0.0.1",
                15001,
                b"GET http://allowed.example:%d/ HTTP/1.1\r\nHost: allowed.example:%d\r\n\r\n" % (port, port),
            ),
        )
        if any(b'"server"' in answer or b"SERVED" in answer for answer in answers):
            return f"ESCAPED: port {port} answered"
    return "HELD: the gate decides on the port as well"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
