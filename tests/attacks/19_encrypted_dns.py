# attack: DNS over TLS and over HTTPS
# family: 19
# runs: exec
# stopped-by: gate-admission
# network: {"rules": [{"allow": "allowed.example"}]}
#
# DoT and DoH carry questions past whoever answers port 53.
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
    for host, port in (
        ("93.184.216.53", 853),
        ("8.8.8.8", 853),
        ("allowed.example", 853),
        ("93.184.216.35", 443),
        ("1.1.1.1", 443),
    ):
        try:
            socket.create_connection((host, port), 5).close()
        except OSError:
            continue
        return f"ESCAPED: connected to {host}:{port}"
    return "HELD: refused in connect()"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
