"""For runtime_test.py: starts main.py with a stand-in for the C extension, and plays the engine's side of the channel.

The stand-in forks and does nothing to seal; what it shares with the real one is the contract of serve().
"""

import array
import json
import os
import socket
import subprocess
import sys

MAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "main.py")
PATIENCE_SECONDS = 60

# Runs inside the zygote under test, so it imports C modules only: what is loaded there is part of what is tested.
STAND_IN = r"""
import sys, posix, _signal, _socket

def serve(control_fd, report):
    control = _socket.socket(fileno=control_fd)
    control.send(report)
    _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)  # the kernel reaps, as in the real zygote
    while True:
        request, ancillary, _, _ = control.recvmsg(1, _socket.CMSG_SPACE(12))
        if not request:
            posix._exit(0)
        data = ancillary[0][2]
        channel, out, err = (int.from_bytes(data[i:i + 4], sys.byteorder) for i in (0, 4, 8))
        if posix.fork() == 0:
            posix.dup2(out, 1)
            posix.dup2(err, 2)
            for fd in (out, err, control.detach()):
                posix.close(fd)
            if request != b"w":
                posix.write(channel, b"\0\0\0\0R")  # the real one says it, then waits in C
            return channel, request == b"w"
        for fd in (channel, out, err):
            posix.close(fd)

sys.modules["belljar_zygote"] = type(sys)("belljar_zygote")
sys.modules["belljar_zygote"].serve = serve
sys.argv = sys.argv[1:]
__file__ = sys.argv[0]
exec(compile(open(__file__).read(), __file__, "exec"))
"""


class Zygote:
    def __init__(self, site_dirs=(), preload=()):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        config = {"control_fd": theirs.fileno(), "site_dirs": list(site_dirs), "preload": list(preload)}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", "-c", STAND_IN, MAIN, json.dumps(config)],
            pass_fds=[theirs.fileno()], stdout=subprocess.DEVNULL)
        theirs.close()
        self.control.settimeout(PATIENCE_SECONDS)
        self.report = json.loads(self.control.recv(65536))

    def fork(self, warm=False):
        return Child(self.control, warm)

    def close(self):
        self.control.close()
        self._process.wait()


class Child:
    """The engine's view of one forked child."""

    def __init__(self, control, warm):
        self.channel, theirs = socket.socketpair()
        self.channel.settimeout(PATIENCE_SECONDS)
        self._out, out = os.pipe()
        self._err, err = os.pipe()
        fds = array.array("i", [theirs.fileno(), out, err])
        control.sendmsg([b"w" if warm else b"l"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        theirs.close()
        os.close(out)
        os.close(err)

    def send(self, kind, payload=b""):
        self.channel.sendall(len(payload).to_bytes(4, "little") + kind + payload)

    def receive(self):
        """(type, payload), or None at the end."""
        header = self._read(5)
        return header and (header[4:], self._read(int.from_bytes(header[:4], "little")))

    def close(self):
        """All that the child and its children printed: (stdout, stderr)."""
        self.channel.close()
        printed = []
        for fd in (self._out, self._err):
            with open(fd, "rb") as file:
                printed.append(file.read().decode("utf-8", "replace"))
        return tuple(printed)

    def _read(self, size):
        data = b""
        while len(data) < size:
            chunk = self.channel.recv(size - len(data))
            if not chunk:
                return None
            data += chunk
        return data


def request(source, args=None, name=None, env=None, filename="weather.py", max_return_bytes=1 << 20, letta=None):
    call = {"nonce": "nonce-1", "source": source, "filename": filename, "name": name, "args": args or {},
            "env": env or {}, "max_return_bytes": max_return_bytes}
    if letta is not None:
        call["letta"] = letta
    return json.dumps(call).encode()
