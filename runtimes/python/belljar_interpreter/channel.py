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
        self._sender = None

    def receive(self):
        """The next message; None when the engine has hung up.

        Nothing is taken before all of it is there: what a signal's handler raises meanwhile loses nothing.
        """
        if not self._fill(HEADER_BYTES):
            return None
        end = HEADER_BYTES + int.from_bytes(self._unread[:4], "little")
        if not self._fill(end):
            return None
        payload, self._unread = self._unread[HEADER_BYTES:end], self._unread[end:]
        return json.loads(payload)

    def send(self, message):
        # Lone surrogates become question marks: JSON can't carry them.
        payload = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
        with self._sending:
            self._sender = threading.get_ident()
            try:
                self._socket.sendall(len(payload).to_bytes(4, "little") + KIND + payload)
            finally:
                self._sender = None

    def is_sending(self):
        """Whether the thread that asks is in the middle of a frame, as the handler of a signal may find it."""
        return self._sender == threading.get_ident()

    def check(self):
        """Raises if there is no socket behind it any more."""
        self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)

    def take_descriptors(self):
        """Those that came with what was received so far."""
        taken, self._descriptors = self._descriptors, []
        return taken

    def close(self):
        self._socket.close()

    def _fill(self, size):
        while len(self._unread) < size:
            piece, descriptors = receive_with_descriptors(self._socket, max(READ_BYTES, size - len(self._unread)))
            if not piece:
                return False
            self._unread += piece
            self._descriptors += descriptors
        return True


def receive_with_descriptors(sock, size):
    room = array.array("i", [0] * MOST_DESCRIPTORS)
    piece, ancillary, _, _ = sock.recvmsg(size, socket.CMSG_SPACE(MOST_DESCRIPTORS * room.itemsize), socket.MSG_CMSG_CLOEXEC)
    descriptors = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[:len(data) - len(data) % descriptors.itemsize])
    return piece, list(descriptors)
