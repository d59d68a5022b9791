# attack: methods and paths without a rule
# family: 21
# runs: exec
# stopped-by: gate-requests
# network: {"rules": [{"allow": "allowed.example", "methods": ["GET"], "paths": ["/ok", "/ok/*"]}]}
#
# A rule for one path, and all the ways to write another that servers read as it.
import socket

_REQUESTS = (
    "GET /secret",
    "POST /ok",
    "DELETE /ok",
    "GET /ok/../secret",
    "GET //ok/../../secret",
    "GET /ok%2f..%2fsecret",
    "GET /ok/..;/secret",
    "GET /%6f%6b/../secret",
    "GET /ok\\..\\secret",
    "get /ok",
    "GET /ok/%2e%2e/secret",
    "GET /ok%00/secret",
    "GET http://allowed.example/secret",
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
    def ask(request, more=""):
        head = (
            f"{request} HTTP/1.1\r\nHost: allowed.example\r\nContent-Length: 0\r\n{more}Connection: close\r\n\r\n"
            .encode()
        )
        return _talk("allowed.example", 80, head) + _talk(
            "127.0.0.1", 15001, head.replace(b" /", b" http://allowed.example/", 1)
        )

    if b'"path": "/ok"' not in ask("GET /ok"):
        return "BROKEN: not even the allowed request is answered"
    for request in _REQUESTS:
        if b'"server"' in ask(request):
            return f"ESCAPED: {request} was answered"
    # Who passes headers on in variables, as CGI does, can't tell "_" from "-".
    for header in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X_HTTP_Method_Override"):
        if b'"server"' in ask("GET /ok", header + ": DELETE\r\n"):
            return f"ESCAPED: {header} was passed on"
    for header in ("X-Original-URL", "X-Rewrite-URL", "X_Original_URL"):
        if b'"server"' in ask("GET /ok", header + ": /secret\r\n"):
            return f"ESCAPED: {header} was passed on"
    return "HELD: only GET /ok"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
