"""Frames on the private descriptor: u32 little-endian payload length, one byte of type, payload."""

from belljar_runtime.own_builtins import OWN as __builtins__

from posix import read, set_inheritable, write

HEADER_BYTES = 5
READ_BYTES = 65536          # a usual call arrives whole in one read
READ_BYTES_AT_MOST = 1 << 20


class Channel:
    def __init__(self, fd):
        self._fd = fd
        self._unread = b""
        # Programs that the tool starts must not hold the channel open after the child's end.
        set_inheritable(fd, False)

    def receive(self):
        """(type, payload) of the next frame; None when the engine has hung up."""
        header = self._take(HEADER_BYTES)
        if header is None:
            return None
        payload = self._take(int.from_bytes(header[:4], "little"))
        if payload is None:
            return None
        return header[4:], payload

    def send(self, kind, payload=b""):
        frame = len(payload).to_bytes(4, "little") + kind + payload
        written = write(self._fd, frame)
        if written < len(frame):
            rest = memoryview(frame)[written:]
            while rest:
                rest = rest[write(self._fd, rest):]

    def _take(self, size):
        chunks = [self._unread]
        have = len(self._unread)
        while have < size:
            chunk = read(self._fd, min(max(size - have, READ_BYTES), READ_BYTES_AT_MOST))
            if not chunk:
                return None
            chunks.append(chunk)
            have += len(chunk)
        data = b"".join(chunks)
        self._unread = data[size:]
        return data[:size]
