# attack: addresses without a name
# family: 20
# runs: call exec
# stopped-by: gate-admission
# network: {"rules": [{"allow": "allowed.example"}]}
#
# Whoever filters names only is passed by with an address.
import socket

_PLACES = (
    "93.184.216.34",
    "93.184.216.35",
    "169.254.169.254",
    "10.200.0.1",
    "10.200.0.2",
    "93.184.216.99",
    "192.168.0.1",
    "100.100.100.200",
    "198.18.77.1",
    "2606:2800:220:1::1",
    "::ffff:93.184.216.34",
    "::ffff:169.254.169.254",
    "64:ff9b::5db8:d822",
    "2002:5db8:d822::1",
    "fd00:be11::1:5",
    "fd00:ec2::254",
    "fe80::1",
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


def _get(host, path="/", port=80):
    return _talk(host, port, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())


def attack():
    if not _get("allowed.example"):
        return "BROKEN: the allowed host does not answer"
    for place in _PLACES:
        for port in (80, 443, 8080):
            try:
                socket.create_connection((place, port), 5).close()
            except ConnectionRefusedError:
                continue
            except TimeoutError:
                return f"ESCAPED: {place}:{port} is not refused at once"
            except OSError:
                continue
            return f"ESCAPED: connected to {place}:{port}"
    return "HELD: refused in connect()"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
