"""The client's half of a WebSocket, as much as the stories need: no library is installed for it."""

import base64
import os
import socket
import struct


class Refused(Exception):
    """The server answered the handshake with something else; `status` says with what."""

    def __init__(self, status, text):
        super().__init__(f"{status}: {text!r}")
        self.status = status


class WebSocket:
    TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10

    def __init__(self, port, path, key=None, headers=None, timeout=60):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        sent = {"Host": f"127.0.0.1:{port}", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(), **(headers or {})}
        if key:
            sent["Authorization"] = "Bearer " + key
        self.socket.sendall((f"GET {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in sent.items()) + "\r\n").encode())
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            self.fill()
        head, self.data = self.data.split(b"\r\n\r\n", 1)
        status = int(head.split()[1])
        if status != 101:
            raise Refused(status, self.data)

    def fill(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("closed")
        self.data += piece

    def take(self, count):
        while len(self.data) < count:
            self.fill()
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def read(self):
        """(kind, data) of the next message."""
        while True:
            first, second = self.take(2)
            size = second & 127
            if size == 126:
                size = struct.unpack(">H", self.take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.take(8))[0]
            data = self.take(size)
            if first & 15 != self.PING:
                return first & 15, data
            self.send(self.PONG, data)

    def send(self, kind, data):
        mask = os.urandom(4)
        size = len(data)
        head = struct.pack(">BB", 0x80 | kind, 0x80 | (size if size < 126 else 126 if size < 65536 else 127))
        head += struct.pack(">H", size) if 126 <= size < 65536 else struct.pack(">Q", size) if size >= 65536 else b""
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def read_until(self, wanted):
        """Everything of the binary messages, until `wanted` was in it."""
        seen = b""
        while wanted not in seen:
            kind, data = self.read()
            if kind == self.CLOSE:
                raise AssertionError(f"closed before {wanted!r}: {seen!r}")
            if kind == self.BINARY:
                seen += data
        return seen

    def close(self):
        self.socket.close()
