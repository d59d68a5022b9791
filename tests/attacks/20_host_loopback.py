# attack: services on the machine's loopback
# family: 20
# runs: call exec
# stopped-by: gate-private
# network: {"preset": "open", "rules": [{"allow": ["loop.example", "localhost"], "ports": ["1-65535"]}]}
#
# Databases, debuggers and our own API listen on 127.0.0.1 and trust whoever comes from there.
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
    if b"93.184.216.34" not in _get("allowed.example"):
        return "BROKEN: the allowed host does not answer"
    for host in ("loop.example", "127.0.0.1", "[::1]", "0.0.0.0", "[::]", "127.8.8.8", "localhost"):
        for port in (80, 8080):
            if b'"server"' in _get(host.strip("[]"), port=port):
                return f"ESCAPED: {host}:{port} answered"
            text = f"GET http://{host}:{port}/ HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"
            if b'"server"' in _talk("127.0.0.1", 15001, text.encode()):
                return f"ESCAPED: {host}:{port} answered through the proxy"
    return "HELD: loopback is the sandbox's own"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
