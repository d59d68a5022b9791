# attack: the warden held up by a socket that takes long to close
# family: 15
# runs: exec root
# stopped-by: seccomp
# needs: sudo
#
# Whoever asks for sudo may pass descriptors along, and the warden closes them. If that is the last one of a TCP connection
# which lingers and whose other end reads nothing, the close waits as long as the sender said: nothing is started, no file
# is opened and no exit is told meanwhile, and the host waits for all of it.
import array
import os
import socket
import struct

_SECONDS = 4


def _full_connection():
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    server, _ = listener.accept()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, _SECONDS))
    client.setblocking(False)
    try:
        while client.send(b"x" * 65536):
            pass
    except BlockingIOError:
        return client, server


def _warden():
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    peer.settimeout(_SECONDS / 2)
    peer.connect("/run/belljar/sudo.sock")
    return peer


def attack():
    client, server = _full_connection()
    with server, _warden() as peer:
        with client:
            rights = array.array("i", [client.fileno()])
            peer.sendmsg([b"no request"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        with _warden() as another:
            null = os.open("/dev/null", os.O_RDWR)
            request = struct.pack("<IHHHHIIIIiII", 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0) + b"/\0/bin/true\0"
            socket.send_fds(another, [request], [null, null, null])
            try:
                return "HELD: the warden answers" if another.recv(4096) else "BROKEN: the warden hung up"
            except TimeoutError:
                return f"ESCAPED: the warden waits for {_SECONDS} seconds"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
