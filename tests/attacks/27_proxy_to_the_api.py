# attack: the server's own API through the proxy, as a page would ask
# family: 27
# runs: exec
# stopped-by: gate-private
# network: {"preset": "open", "rules": [{"allow": ["localhost", "own.example", "loop.example"], "ports": [8080]}]}
#
# A request that comes from the server's own machine is often trusted; the proxy must not make any.
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
        return "BROKEN: the proxy does not answer"
    for host in ("127.0.0.1:8080", "localhost:8080", "own.example:8080", "10.200.0.1:8080", "loop.example:8080"):
        for origin in (
            "",
            "Origin: http://127.0.0.1:8080\r\nX-Forwarded-For: 127.0.0.1\r\nForwarded: for=127.0.0.1\r\n",
        ):
            for target, sent_host in ((f"http://{host}/v1/tools", host), (f"http://{host}/v1/tools", "127.0.0.1:8080")):
                answer = _talk(
                    "127.0.0.1",
                    15001,
                    f"POST {target} HTTP/1.1\r\nHost: {sent_host}\r\n{origin}Content-Length: 0\r\n\r\n".encode(),
                )
                if b'"server"' in answer:
                    return f"ESCAPED: {host} answered"
    return "HELD: the proxy leads to no service of this machine"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
