# attack: the host's interfaces, listeners and sockets
# family: 14
# runs: call exec root
# stopped-by: netns
#
# In the host's network namespace: the metadata service, the database on localhost, Belljar's own port,
# abstract sockets of the desktop.
import fcntl
import socket
import struct

_SIOCGIFNAME = 0x8910
_BORN_WITH_A_NAMESPACE = {"lo", "tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "sit0", "ip6tnl0",
                          "ip6gre0"}


def _interfaces():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for index in range(1, 128):
            try:
                answer = fcntl.ioctl(any_socket, _SIOCGIFNAME, struct.pack("16si20x", b"", index))
            except OSError:
                continue
            yield answer[:16].split(b"\0")[0].decode()


def attack():
    names = set(_interfaces())
    if not names:
        return "BROKEN: not even lo"
    if names - _BORN_WITH_A_NAMESPACE:
        return "ESCAPED: interfaces of the host: " + " ".join(sorted(names - _BORN_WITH_A_NAMESPACE))
    with open("/proc/self/net/tcp") as table:
        listeners = [line.split()[1] for line in table if line.split()[3] == "0A"]
    return f"ESCAPED: somebody listens on {listeners[0]}" if listeners else "HELD: a network of its own"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
