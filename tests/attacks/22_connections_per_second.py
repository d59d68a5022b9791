# attack: more connections in a second than the policy's rate
# family: 22
# runs: exec
# stopped-by: gate-caps
# network: {"rules": [{"allow": "allowed.example"}], "caps": {"connections_per_second": 2}}
#
# A flood of short connections is an attack on somebody else in our name.
import socket
import time


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
    most, answered, started = 2, 0, time.monotonic()
    while time.monotonic() - started < 3:
        answered += 1 if _get("allowed.example") else 0
    if answered == 0:
        return "BROKEN: the allowed host does not answer"
    rate = answered / (time.monotonic() - started)
    return f"ESCAPED: {rate:.0f} connections a second" if rate > 4 * most else f"HELD: {rate:.1f} connections a second"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
