# attack: a later request on the connection is for another host
# family: 18
# runs: call exec
# stopped-by: gate-hello
# network: {"rules": [{"allow": "allowed.example", "ports": [80, 8081]}]}
#
# Virtual hosts: the first request shows the allowed name, those behind it on the same connection another one.
import socket


def _connect(how):
    if how == "directly":
        return socket.create_connection(("allowed.example", 80), 5)
    s = socket.create_connection(("127.0.0.1", 15001), 5)
    if how == "CONNECT":
        s.sendall(b"CONNECT allowed.example:80 HTTP/1.1\r\nHost: allowed.example:80\r\n\r\n")
        s.recv(1000)
    else:
        s.sendall(b"\5\1\0")
        s.recv(2)
        s.sendall(b"\5\1\0\3\x0fallowed.example\0\x50")
        s.recv(1000)
    return s


def _talk(how, pieces):
    """What comes back to all of them; each is sent once the one before was answered, or had no answer for a while."""
    got = b""
    try:
        with _connect(how) as s:
            s.settimeout(3)
            for piece in pieces:
                s.sendall(piece)
                got += s.recv(65536)
            while part := s.recv(65536):
                got += part
    except OSError:
        pass
    return got


def attack():
    first = b"GET /%s HTTP/1.1\r\nHost: allowed.example\r\n%s\r\n"
    other = b"GET /second HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n"
    upgrade = b"Connection: Upgrade\r\nUpgrade: %s\r\n"
    tries = {
        "one after the other": [first % (b"", b""), other],
        "together": [first % (b"", b"") + other],
        "in pieces": [first % (b"", b"") + other[:40], other[40:]],
        "behind a body": [first.replace(b"GET", b"POST") % (b"", b"Content-Length: 3\r\n") + b"abc" + other],
        "behind an upgrade that the server ignores": [first % (b"", upgrade % b"websocket"), other],
        "behind an upgrade to h2c": [first % (b"switch/h2c", upgrade % b"h2c"), b"PRI * HTTP/2.0\r\n\r\n" + other],
    }
    for how in ("directly", "CONNECT", "SOCKS"):
        if b'"path": "/second"' not in _talk(how, [first % (b"", b""), other.replace(b"other", b"allowed")]):
            return f"BROKEN: not even a second request to the allowed host is answered, {how}"
        for what, pieces in tries.items():
            answer = _talk(how, pieces)
            if b'"host": "other.example"' in answer or b"GET /second" in answer:
                return f"ESCAPED: answered as other.example: {what}, {how}"
    return "HELD: every request is for the host of its connection"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
