"""The engine's side of the interpreter runtime, for tests: starts the zygote, makes contexts, runs cells, rolls back."""

import array
import json
import os
import select
import signal
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE_SECONDS = 60


class Gone(Exception):
    """The other side has hung up."""


class Wire:
    """One end of a channel."""

    def __init__(self, sock):
        self.socket = sock
        self.socket.settimeout(PATIENCE_SECONDS)
        self._unread = b""

    def send(self, message, descriptors=()):
        payload = json.dumps(message).encode()
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        frame = len(payload).to_bytes(4, "little") + b"J" + payload
        sent = self.socket.sendmsg([frame], ancillary)
        if sent < len(frame):  # sending nothing fails, too, if a context has read all of it and is gone
            self.socket.sendall(frame[sent:])

    def receive(self):
        size = int.from_bytes(self._take(5)[:4], "little")
        return json.loads(self._take(size))

    @property
    def waiting(self):
        return bool(self._unread)

    def _take(self, size):
        while len(self._unread) < size:
            piece = self.socket.recv(65536)
            if not piece:
                raise Gone
            self._unread += piece
        taken, self._unread = self._unread[:size], self._unread[size:]
        return taken


class Zygote:
    def __init__(self, python=sys.executable, env=None, cwd=None):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = {**os.environ, **(env or {})}
        # Descriptor 3 by dup2 in the child, as the warden does it.
        self.process = subprocess.Popen(
            [python, os.path.join(HERE, "interpreter.py"), "3"], stdin=subprocess.DEVNULL, env=environment, cwd=cwd,
            pass_fds=[3], preexec_fn=lambda: os.dup2(theirs.fileno(), 3))
        theirs.close()
        self.control.settimeout(PATIENCE_SECONDS)
        assert self.control.recv(16) == b"R"

    def context(self, cwd=None):
        return Context(self, {"cwd": cwd} if cwd else {})

    def context_ahead(self):
        return Context(self, {"ahead": True})

    def send(self, message, descriptors):
        socket.send_fds(self.control, [json.dumps(message).encode()], descriptors)

    def end(self):
        self.control.close()
        self.process.wait(PATIENCE_SECONDS)


class Ends:
    """What a live process is given: a channel and two pipes."""

    def __init__(self):
        ours, theirs = socket.socketpair()
        self.wire = Wire(ours)
        self.output, output = os.pipe()
        self.error, error = os.pipe()
        self.theirs = [theirs.detach(), output, error]

    def passed(self):
        for fd in self.theirs:
            os.close(fd)


class Context:
    def __init__(self, zygote, request):
        ends = Ends()
        zygote.send(request, ends.theirs)
        self._use(ends)
        self._nonces = 0

    def _use(self, ends):
        ends.passed()
        self._ends = ends
        self.wire = ends.wire
        self.first = self.wire.receive()
        self.pid = self.first.get("pid")

    def enter(self, cwd):
        """Of one that was made ahead."""
        self.wire.send({"op": "enter", "cwd": cwd})
        return self.wire.receive()

    def run(self, code, env=None, interrupt_when=None):
        """Everything that comes of a cell; interrupted once `interrupt_when` was printed."""
        self._nonces += 1
        nonce = str(self._nonces)
        self.wire.send({"op": "execute", "nonce": nonce, "code": code, "env": env or {}})
        return self._collect(nonce, interrupt_when)

    def _collect(self, nonce, interrupt_when):
        outcome = Outcome()
        while True:
            patience = 0 if self.wire.waiting else PATIENCE_SECONDS
            ready, _, _ = select.select([self.wire.socket, self._ends.output, self._ends.error], [], [], patience)
            assert ready or self.wire.waiting, "the context does not answer"
            self._read(outcome)
            if interrupt_when and interrupt_when in outcome.stdout:
                os.killpg(self.pid, signal.SIGINT)
                interrupt_when = None
            if self.wire.waiting or self.wire.socket in ready:
                message = self.wire.receive()
                assert message["nonce"] == nonce, message
                self._read(outcome)
                if message["op"] == "done":
                    return outcome
                outcome.take(message)

    def _read(self, outcome):
        for fd, name in ((self._ends.output, "stdout"), (self._ends.error, "stderr")):
            while select.select([fd], [], [], 0)[0]:
                piece = os.read(fd, 65536)
                if not piece:
                    break
                setattr(outcome, name, getattr(outcome, name) + piece.decode())

    def checkpoint(self):
        """The wire to the checkpoint; a text if it was refused."""
        ours, theirs = socket.socketpair()
        self._nonces += 1
        self.wire.send({"op": "checkpoint", "nonce": str(self._nonces)}, [theirs.fileno()])
        theirs.close()
        answer = self.wire.receive()
        if answer["op"] == "refused":
            return answer["reason"]
        assert answer["op"] == "checkpointed", answer
        return Wire(ours)

    def roll_back(self, checkpoint):
        os.killpg(self.pid, signal.SIGKILL)
        ends = Ends()
        checkpoint.send({"op": "rollback"}, ends.theirs)
        self._use(ends)


class Outcome:
    def __init__(self):
        self.stdout = self.stderr = ""
        self.results, self.error, self.count = [], None, None
        self.order = []

    def take(self, message):
        self.order.append(message["op"])
        if message["op"] == "result":
            self.results.append(message)
        elif message["op"] == "error":
            self.error = message
        elif message["op"] == "count":
            self.count = message["count"]

    @property
    def main(self):
        return next((result["data"] for result in self.results if result["main"]), None)

    @property
    def text(self):
        return self.main and self.main["text/plain"]
