# attack: raw, packet and ICMP sockets
# family: 20
# runs: root
# stopped-by: gate-ownership caps
# network: "open"
#
# ICMP is a tunnel, and raw sockets write the headers that filters read. Root inside has both where it owns the
# network.
import socket

_KINDS = (
    ("icmp", 2, 3, 1),
    ("icmp datagrams", 2, 2, 1),
    ("raw", 2, 3, 255),
    ("raw 6", 10, 3, 58),
    ("packet", 17, 3, 768),
    ("gre", 2, 3, 47),
)


def attack():
    opened = []
    for what, family, kind, protocol in _KINDS:
        try:
            with socket.socket(family, kind, protocol) as s:
                opened.append(what)
        except OSError:
            continue
    return "ESCAPED: opened " + ", ".join(opened) if opened else "HELD: none of them opens"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
