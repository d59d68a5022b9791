# attack: a name with a public and an internal address
# family: 19
# runs: exec
# stopped-by: gate-private
# network: {"rules": [{"allow": "*.both.example"}]}
#
# One answer with both: the checker looks at one address, the connector takes another or falls back to it.
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
    reached = b"".join(_get(f"{os.urandom(4).hex()}.both.example") for _ in range(8))
    if b"10.200.0.2" in reached:
        return "ESCAPED: the neighbour answered"
    return (
        "HELD: only the public one is used"
        if b"93.184.216.34" in reached
        else "BROKEN: the name never led to its public address"
    )


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
