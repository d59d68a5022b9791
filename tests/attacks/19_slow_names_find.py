# attack: names whose server never answers, to hold up others (another sandbox)
# family: 19
# runs: exec
# stopped-by: gate-turns
# network: {"rules": [{"allow": ["allowed.example", "*.slow.example"]}]}
# pair: find
# pair-name: slow_names
#
# The next sandbox, while the questions of the one before are still asked.
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
    # Three tries: on a busy machine one failed once, for a reason that was not found. Without the control each is refused at once.
    if any(b"93.184.216.34" in _get("allowed.example") for _ in range(3)):
        return "HELD: another sandbox's names are resolved as before"
    return "ESCAPED: another sandbox can't resolve its allowed name"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
