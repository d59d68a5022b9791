# attack: another Host than the name of the connection
# family: 18
# runs: exec
# stopped-by: gate-hello
# network: {"rules": [{"allow": "allowed.example"}]}
#
# Virtual hosts: the address is the allowed one's, the Host header another's.
import socket

_HEADS = (
    "GET / HTTP/1.1\r\nHost: other.example\r\n",
    "GET http://other.example/ HTTP/1.1\r\nHost: allowed.example\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.example\r\nHost: other.example\r\n",
    "GET / HTTP/1.1\r\nHost: other.example\r\nHost: allowed.example\r\n",
    "GET / HTTP/1.1\r\nHost : other.example\r\n",
    "GET / HTTP/1.1\r\nX: y\r\n Host: other.example\r\nHost: other.example\r\n",
    "GET / HTTP/1.1\nHost: other.example\n",
    "GET / HTTP/1.1\r\nHost:\tother.example\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.example, other.example\r\n",
    "\r\nGET / HTTP/1.1\r\nHost: other.example\r\n",
    "GET / HTTP/1.0\r\nHost: other.example\r\n",
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
    if b'"host": "allowed.example"' not in _talk(
        "allowed.example", 80, b"GET / HTTP/1.1\r\nHost: allowed.example\r\nConnection: close\r\n\r\n"
    ):
        return "BROKEN: not even the right host is answered"
    for head in _HEADS:
        end = "Connection: close\r\n\r\n" if "\r\n" in head else "Connection: close\n\n"
        answer = _talk("allowed.example", 80, (head + end).encode())
        if b"other.example" in answer and b"200" in answer:
            return f"ESCAPED: answered as other.example: {head!r}"
    return "HELD: every other host is reset"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
