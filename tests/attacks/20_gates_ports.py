# attack: sitting down on the gate's own ports
# family: 20
# runs: call exec
# stopped-by: design
# network: {"rules": [{"allow": "allowed.example"}]}
#
# Whoever answers on port 53 gives names to the other users of the sandbox.
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
    taken = []
    for family in (socket.AF_INET, socket.AF_INET6):
        for kind, port in ((1, 15001), (1, 53), (2, 53)):
            for address in ("", "127.0.0.1" if family == socket.AF_INET else "::1"):
                with socket.socket(family, kind) as s:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                    try:
                        s.bind((address, port))
                        if kind == 1:
                            s.listen()
                        taken.append(str(port))
                    except OSError:
                        continue
    if taken:
        return "ESCAPED: bound " + " ".join(taken)
    return "HELD: in use" if _get("allowed.example") else "BROKEN: the allowed host does not answer"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
