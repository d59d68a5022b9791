# attack: a proxy asked for another proxy
# family: 21
# runs: exec
# stopped-by: design
# network: "open"
#
# CONNECT to the proxy's own port asks a second time, from another place.
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
    if b"200" not in _talk(
        "127.0.0.1",
        15001,
        b"CONNECT allowed.example:80 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: allowed.example\r\nConnection:"
        b" close\r\n\r\n",
    ):
        return "BROKEN: CONNECT to the allowed host does not work"
    chains = (
        (
            b"CONNECT 127.0.0.1:15001 HTTP/1.1\r\n\r\nCONNECT metadata.example:80 HTTP/1.1\r\n\r\nGET /"
            b" HTTP/1.1\r\nHost: metadata.example\r\n\r\n"
        ),
        (
            b"CONNECT 198.18.0.1:15001 HTTP/1.1\r\n\r\nCONNECT metadata.example:80 HTTP/1.1\r\n\r\nGET /"
            b" HTTP/1.1\r\nHost: metadata.example\r\n\r\n"
        ),
        b"CONNECT allowed.example:80 HTTP/1.1\r\n\r\nCONNECT other.example:80 HTTP/1.1\r\nHost: other.example\r\n\r\n",
        b"GET http://127.0.0.1:15001/ HTTP/1.1\r\nHost: 127.0.0.1:15001\r\n\r\n",
        b"CONNECT [::1]:53 HTTP/1.1\r\n\r\n",
        b"CONNECT 127.0.0.1:8080 HTTP/1.1\r\n\r\n",
    )
    for text in chains:
        answer = _talk("127.0.0.1", 15001, text)
        if b'"server"' in answer or answer.count(b" 200 ") > 1:
            return f"ESCAPED: {text[:40]!r} got through"
    return "HELD: the gate is no way to itself"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
