# attack: memory as unread data in TCP connections
# family: 24
# runs: call exec root
# stopped-by: memory
# limits: memory_bytes=67108864
# expect: killed-by memory
#
# What is sent and not read lies in the kernel. With cgroup v1 it counts only where kmem.tcp has a limit, and then
# the whole machine shares one pool of it: a sandbox that fills that pool slows down every connection of the host.
# With v2 it is memory like any other: who fills 64 MB of it is killed.
import socket

_PAIRS = 160
_BLOCK = b"x" * (1 << 20)
_ENOUGH = 384 << 20


def _fill(listener):
    client = socket.create_connection(listener.getsockname())
    server, _ = listener.accept()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
    client.setblocking(False)
    sent = 0
    try:
        while sent < 16 << 20:
            sent += client.send(_BLOCK)
    except BlockingIOError:
        pass
    return sent, (client, server)


def attack():
    listener = socket.create_server(("127.0.0.1", 0))
    total, held = 0, []
    try:
        while len(held) < _PAIRS and total < _ENOUGH:
            sent, pair = _fill(listener)
            total += sent
            held.append(pair)
    except OSError as error:
        return f"HELD: after {total >> 20} MB: {error.strerror}"
    if total > 160 << 20:
        return f"ESCAPED: {total >> 20} MB lie in sockets of a sandbox of 64"
    return f"HELD: {len(held)} connections took {total >> 20} MB"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
