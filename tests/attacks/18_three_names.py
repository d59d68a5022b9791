# attack: CONNECT to one name, TLS or Host for another
# family: 18
# runs: exec
# stopped-by: gate-hello
# network: {"rules": [{"allow": "allowed.example"}]}
#
# The proxy checks the name in CONNECT and passes on whatever is spoken inside.
import socket
import ssl


def _tunnel(protocol):
    s = socket.create_connection(("127.0.0.1", 15001), 5)
    s.settimeout(5)
    if protocol != "socks":
        s.sendall(b"CONNECT allowed.example:443 HTTP/1.1\r\nHost: " + protocol.encode() + b"\r\n\r\n")
        return s, s.recv(1000)
    s.sendall(b"\5\1\0")
    s.recv(2)
    s.sendall(b"\5\1\0\3\x0fallowed.example" + (443).to_bytes(2, "big"))
    return s, s.recv(1000)


def attack():
    context, reached = ssl._create_unverified_context(), []
    for protocol in ("allowed.example:443", "other.example:443", "socks"):
        for name in ("allowed.example", "other.example", None):
            try:
                s, said = _tunnel(protocol)
                with context.wrap_socket(s, server_hostname=name):
                    reached.append((protocol, name))
            except OSError:
                pass
    lies = [f"{protocol} for {name}" for protocol, name in reached if name != "allowed.example"]
    if lies:
        return "ESCAPED: a handshake by " + ", ".join(lies)
    return "HELD: a tunnel says the name it was asked for" if reached else "BROKEN: not even the right name is answered"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
