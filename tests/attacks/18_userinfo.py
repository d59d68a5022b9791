# attack: an allowed name before the @
# family: 18
# runs: exec
# stopped-by: design
# network: {"rules": [{"allow": "allowed.example"}]}
#
# Readers of URLs differ about userinfo; the checker sees the one name, the connector the other.
import socket

_TARGETS = (
    "allowed.example@other.example:80",
    "allowed.example:80@other.example:80",
    "other.example:80#@allowed.example:80",
    "other.example:80?@allowed.example:80",
    "other.example:80\\@allowed.example:80",
    "[allowed.example]@other.example:80",
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


def attack():
    for target in _TARGETS:
        for first in (
            f"CONNECT {target} HTTP/1.1\r\nHost: allowed.example\r\n\r\n",
            f"GET http://{target}/ HTTP/1.1\r\nHost: allowed.example\r\nConnection: close\r\n\r\n",
        ):
            answer = _talk(
                "127.0.0.1",
                15001,
                (first + "GET / HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n").encode(),
            )
            if b"93.184.216.35" in answer:
                return f"ESCAPED: {target} led to other.example"
    return "HELD: a target with userinfo leads nowhere"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
