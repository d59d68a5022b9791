# attack: a request that only a lenient server takes for one
# family: 18
# runs: exec
# stopped-by: gate-hello
# network: {"rules": [{"allow": "allowed.example", "ports": [80, 8081, 8082]}]}
#
# What the proxy does not recognise as HTTP passes unread; servers skip empty lines and take other
# white space for spaces.
import socket

_FIRST_LINES = (
    "\r\nGET / HTTP/1.1\r\n",
    "\n\n\nGET / HTTP/1.1\r\n",
    "GET\t/\tHTTP/1.1\r\n",
    " GET / HTTP/1.1\r\n",
    "GET\x0b/\x0cHTTP/1.1\r\n",
    "GET / http/1.1\r\n",
    "GET / HTTP/1.10\r\n",
    "GET / HTTP/1.1 \r\n",
    "M@CH / HTTP/1.1\r\n",
    *(space + "GET / HTTP/1.1\r\n" for space in "\x1c\x1d\x1e\x1f\x85\xa0"),
    "GET\xa0/\x1fHTTP/1.1\r\n",
    "GET /\0 HTTP/1.1\r\n",
)


def _talk(port, pieces):
    got = b""
    try:
        with socket.create_connection(("allowed.example", port), 5) as s:
            s.settimeout(3)
            for piece in pieces:
                s.sendall(piece)
            while part := s.recv(65536):
                got += part
    except OSError:
        pass
    return got


def attack():
    rest = "Host: {}\r\nConnection: close\r\n\r\n"
    if b'"host": "allowed.example"' not in _talk(80, [b"GET / HTTP/1.1\r\n" + rest.format("allowed.example").encode()]):
        return "BROKEN: not even the right host is answered"
    for line in _FIRST_LINES:
        for port in (80, 8081, 8082):
            text = (line + rest.format("other.example")).encode("latin-1")
            for pieces in ([text], [text[:1], text[1:]], [text[:6], text[6:]]):
                answer = _talk(port, pieces)
                if b'"host": "other.example"' in answer or b"SERVED" in answer:
                    return f"ESCAPED: answered as other.example: {line!r}, port {port}"
    return "HELD: what a server could take for a request is read as one"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
