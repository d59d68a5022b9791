# attack: an allowed server that sends the client inside
# family: 21
# runs: call exec
# stopped-by: gate-private
# network: {"preset": "open", "rules": [{"allow": ["metadata.example", "loop.example", "private.example", "own.example"]}]}
#
# The first URL is checked, the redirect is followed: server-side request forgery by the book.
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


def _follow(url, hops=0):
    host, _, path = url[len("http://") :].partition("/")
    answer = _get(host, "/" + path)
    if hops < 5 and b"\nLocation: " in answer:
        return _follow(answer.partition(b"\nLocation: ")[2].partition(b"\r")[0].decode(), hops + 1)
    return answer


def attack():
    if b"93.184.216.35" not in _follow("http://allowed.example/redirect/other.example/"):
        return "BROKEN: a redirect to a public host does not work"
    for place in (
        "metadata.example",
        "loop.example",
        "private.example",
        "own.example",
        "169.254.169.254",
        "10.200.0.2",
        "[::ffff:10.200.0.2]",
    ):
        if b'"server"' in _follow(f"http://allowed.example/redirect/{place}/"):
            return f"ESCAPED: a redirect led to {place}"
    return "HELD: each hop is decided for itself"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
