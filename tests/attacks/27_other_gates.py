# attack: another sandbox's gate
# family: 27
# runs: call exec
# stopped-by: design
# network: {"rules": [{"allow": "allowed.example"}]}
#
# Other sandboxes run at the same time with other policies; a proxy that all share would ask nobody who it serves.
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
    if b"93.184.216.34" not in _talk(
        "127.0.0.1", 15001, b"GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n"
    ):
        return "BROKEN: its own gate does not answer"
    for gate in (
        "127.0.0.1",
        "127.9.9.9",
        "198.18.0.1",
        "198.18.0.2",
        "::1",
        "fd00:be11::1",
        "fd00:be11::2",
        "10.200.0.1",
        "93.184.216.99",
    ):
        answer = _talk(gate, 15001, b"GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n")
        if b"93.184.216.35" in answer:
            return f"ESCAPED: the gate at {gate} has another policy"
    return "HELD: it finds its own gate only"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
