# attack: another name in the TLS hello than in DNS
# family: 18
# runs: call exec
# stopped-by: gate-hello
# network: {"rules": [{"allow": "allowed.example"}]}
#
# Domain fronting: the connection goes to an allowed front, the name inside to a tenant of the same cloud.
import select
import socket
import ssl


def _hello(name, server_name, pieces=False, silence=False):
    """Does a TLS handshake with this name in it come to an end?"""
    context = ssl._create_unverified_context()
    try:
        with socket.create_connection((name, 443), 5) as s:
            s.settimeout(5)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if silence:
                select.select([s], [], [], 0.5)  # longer than a server that speaks first is waited for
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = context.wrap_bio(incoming, outgoing, server_hostname=server_name)
            while True:
                try:
                    tls.do_handshake()
                    return True
                except ssl.SSLWantReadError:
                    out = outgoing.read()
                    for part in ([out[i : i + 40] for i in range(0, len(out), 40)] if pieces else [out]):
                        s.sendall(part)
                    incoming.write(s.recv(65536) or b"\0")
    except OSError:
        return False


def _is_answered(before):
    """Does whatever stands behind these bytes reach the server, which then says something, if only a complaint?"""
    outgoing = ssl.MemoryBIO()
    tls = ssl._create_unverified_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="other.example")
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    try:
        with socket.create_connection(("allowed.example", 443), 5) as s:
            s.settimeout(5)
            s.sendall(before(outgoing.read()))
            return bool(s.recv(100))
    except OSError:
        return False


def attack():
    if not _hello("allowed.example", "allowed.example"):
        return "BROKEN: not even the right name is answered"
    lies = {
        "other.example": "other.example",
        "no name": None,
        "a name below": "x.allowed.example",
        "a name with a tail": "allowed.example.other.example",
    }
    for what, name in lies.items():
        for pieces, silence in ((False, False), (True, False), (False, True)):
            if _hello("allowed.example", name, pieces, silence):
                return f"ESCAPED: a handshake for {what}" + (
                    " in pieces" if pieces else " after a silence" if silence else ""
                )
    # Go's server drops an alert before the hello, and takes every version below 16.
    hidden = {
        "behind an alert": lambda hello: b"\x15\x03\x01\x00\x02\x01\x5a" + hello,
        "of an unknown version": lambda hello: b"\x16\x02\x00" + hello[3:],
    }
    for what, before in hidden.items():
        if _is_answered(before):
            return f"ESCAPED: a hello {what} reached the server"
    return "HELD: every hello with another name is reset"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
