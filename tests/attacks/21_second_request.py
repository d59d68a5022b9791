# attack: another request after the one that was decided on
# family: 21
# runs: call exec
# stopped-by: gate-single
# network: {"rules": [{"allow": "allowed.example", "paths": ["/one"]}]}
#
# Rules are asked for the first request of a connection, the rest comes along.
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


def attack():
    one = b"GET %s/one HTTP/1.1\r\nHost: allowed.example\r\n\r\n"
    two = b"GET /two HTTP/1.1\r\nHost: allowed.example\r\nConnection: close\r\n\r\n"
    for host, port, before in (("allowed.example", 80, b""), ("127.0.0.1", 15001, b"http://allowed.example")):
        answer = _talk(host, port, one % before + two)
        if b'"path": "/one"' not in answer:
            return "BROKEN: not even the first is answered"
        if b'"path": "/two"' in answer:
            return "ESCAPED: the second was answered, too"
    return "HELD: one request a connection"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
