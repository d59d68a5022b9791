# attack: more than may be received
# family: 22
# runs: exec
# stopped-by: gate-caps
# network: {"rules": [{"allow": "allowed.example"}], "caps": {"bytes_received": 65536}}
# event: connected allowed.example:80
#
# A model's weights, or an order of a command server: what comes in is bounded as well.
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
    most, got = 65536, 0  # as in the policy's caps
    for size in [4000] * 40 + [1000000] * 2:
        got += len(_get("allowed.example", f"/bytes/{size}"))
    if got == 0:
        return "BROKEN: the allowed service does not answer"
    return f"ESCAPED: {got} bytes came" if got > most else f"HELD: cut off after {got} bytes"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
