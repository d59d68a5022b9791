# attack: UDP, QUIC and multicast
# family: 20
# runs: call exec
# stopped-by: gate-refusal
# network: "open"
#
# QUIC carries everything that TCP does, past whoever looks at TCP only.
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
    if not _get("allowed.example"):
        return "BROKEN: the allowed host does not answer"
    address = socket.gethostbyname("allowed.example")
    for family, host, port in (
        (2, address, 443),
        (2, "93.184.216.34", 443),
        (2, "93.184.216.34", 9999),
        (2, "10.200.0.2", 9999),
        (2, "224.0.0.251", 5353),
        (10, "2606:2800:220:1::1", 443),
        (10, "::ffff:93.184.216.34", 9999),
    ):
        with socket.socket(family, socket.SOCK_DGRAM) as s:
            try:
                s.sendto(b"udp", (host, port))
            except OSError:
                continue
            return f"ESCAPED: sent to {host}:{port}"
    return "ESCAPED: packets arrived" if b'"udp"' in _get("allowed.example", "/seen") else "HELD: send() is refused"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
