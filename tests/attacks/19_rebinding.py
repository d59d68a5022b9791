# attack: a name that is public when it is checked and internal when it is used
# family: 19
# runs: call exec
# stopped-by: gate-pinning
# network: {"rules": [{"allow": "*.rebind.example"}]}
#
# DNS rebinding: the name server changes its mind between the question of the checker and that of the connector (TTL
# 0).
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
    name, answers = f"{os.urandom(4).hex()}.rebind.example", []
    for _ in range(8):
        answers.append(_get(name))
    reached = b"".join(answers)
    if b"169.254.169.254" in reached.partition(b"{")[2]:
        return "ESCAPED: the metadata service answered"
    return (
        "HELD: decided and connected to one address"
        if b"93.184.216.34" in reached
        else "BROKEN: the name never led to its public address"
    )


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
