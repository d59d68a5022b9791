# attack: a name's rules about requests, passed by with its address
# family: 21
# runs: exec
# stopped-by: gate-requests
# network: {"preset": "open", "rules": [{"allow": "allowed.example", "methods": ["GET"]}, {"deny": "allowed.example"}]}
#
# Rules hang on the name that was resolved, and the address is known from elsewhere: the name stands in Host only.
import socket
import ssl

_ADDRESS = "93.184.216.34"
_HEAD = " / HTTP/1.1\r\nHost: allowed.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def _talk(host, port, text):
    """What comes back until the other side ends, or as much as came before it reset."""
    got = b""
    try:
        with socket.create_connection((host, port), 5) as s:
            s.settimeout(5)
            s.sendall(text)
            while part := s.recv(65536):
                got += part
    except OSError:
        pass
    return got


def _talk_tls(text):
    try:
        with socket.create_connection((_ADDRESS, 443), 5) as s:
            with ssl._create_unverified_context().wrap_socket(s, server_hostname="allowed.example") as tls:
                tls.sendall(text)
                return tls.recv(65536)
    except OSError:
        return b""


def attack():
    if b'"server"' not in _talk("allowed.example", 80, ("GET" + _HEAD).encode()):
        return "BROKEN: not even the allowed request is answered"
    if b'"server"' not in _talk(_ADDRESS, 80, ("GET" + _HEAD).replace("allowed", "other").encode()):
        return "BROKEN: the address is not open"
    post = ("POST" + _HEAD).encode()
    other = ("GET" + _HEAD).replace("allowed", "other").replace("close", "keep-alive").encode()
    connect = f"CONNECT {_ADDRESS}:80 HTTP/1.1\r\n\r\n".encode()
    if b'"method": "POST"' in _talk(_ADDRESS, 80, post):
        return "ESCAPED: POST to the address"
    if b'"method": "POST"' in _talk(_ADDRESS, 80, other + post):
        return "ESCAPED: POST behind a request for another name"
    if b'"method": "POST"' in _talk("127.0.0.1", 15001, connect + post):
        return "ESCAPED: POST through CONNECT to the address"
    if b'"method": "POST"' in _talk_tls(post):
        return "ESCAPED: POST over TLS to the address"
    return "HELD: the name's rules hold for its address"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
