# attack: other ports of an allowed name
# family: 20
# runs: exec
# stopped-by: gate-admission
# network: {"rules": [{"allow": "allowed.example"}]}
#
# The name is allowed for the web; its mail server is not.
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


def _get(host, path="/", port=80):
    return _talk(host, port, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())


def attack():
    if not _get("allowed.example"):
        return "BROKEN: the allowed host does not answer"
    for port in (7, 22, 25, 81, 2525, 8080):
        try:
            socket.create_connection(("allowed.example", port), 5).close()
        except OSError:
            continue
        return f"ESCAPED: connected to port {port}"
    return "HELD: refused in connect()"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
