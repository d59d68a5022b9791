"""Frames between a context and the engine: u32 little-endian length, one byte of type, JSON. Descriptors come beside them."""

import array
import json
import socket
import threading

HEADER_BYTES = 5
READ_BYTES = 65536
MOST_DESCRIPTORS = 4
KIND = b"J"


class Channel:
    def __init__(self, fd):
        self._socket = socket.socket(fileno=fd)
        self._socket.set_inheritable(False)
        self._unread = b""
        self._descriptors = []
        self._sending = threading.Lock()  # a thread of the user's may display something

    def receive(self):
        """The next message; None when the engine has hung up."""
        header = self._take(HEADER_BYTES)
        payload = header and self._take(int.from_bytes(header[:4], "little"))
        return None if payload is None else json.loads(payload)

    def send(self, message):
        # Lone surrogates become question marks: JSON can't carry them.
        payload = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
        with self._sending:
            self._socket.sendall(len(payload).to_bytes(4, "little") + KIND + payload)

    def take_descriptors(self):
        """Those that came with what was received so far."""
        taken, self._descriptors = self._descriptors, []
        return taken

    def close(self):
        self._socket.close()

    def _take(self, size):
        while len(self._unread) < size:
            piece, descriptors = receive_with_descriptors(self._socket, max(READ_BYTES, size - len(self._unread)))
            if not piece:
                return None
            self._unread += piece
            self._descriptors += descriptors
        taken, self._unread = self._unread[:size], self._unread[size:]
        return taken


def receive_with_descriptors(sock, size):
    room = array.array("i", [0] * MOST_DESCRIPTORS)
    piece, ancillary, _, _ = sock.recvmsg(size, socket.CMSG_SPACE(MOST_DESCRIPTORS * room.itemsize), socket.MSG_CMSG_CLOEXEC)
    descriptors = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[:len(data) - len(data) % descriptors.itemsize])
    return piece, list(descriptors)
