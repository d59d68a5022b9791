# attack: looking for a way out without being seen
# family: 22
# runs: exec
# stopped-by: design
# network: {"rules": [{"allow": "allowed.example"}]}
# event: denied metadata.example:80
#
# Attempts are what an operator wants to know of.
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
    _get("other.example")
    answer = _talk("127.0.0.1", 15001, b"CONNECT metadata.example:80 HTTP/1.1\r\n\r\n")
    return "ESCAPED: it was let through" if b" 200 " in answer else "HELD: refused, and the runner looks for the event"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
