"""The life of a context: says ready, then runs one request after another until the engine hangs up."""

import os
import signal
import sys
import threading

from belljar_interpreter import checkpoint, failure, figures, programs, rich
from belljar_interpreter.cells import Cells
from belljar_interpreter.channel import Channel

MOST_RESULT_BYTES = 8 << 20


def prepare_process():
    """Once, in the zygote."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    os.environ.setdefault("PIP_BREAK_SYSTEM_PACKAGES", "1")  # the sandbox's system is the user's
    os.environ.setdefault("PIP_DISABLE_PIP_VERSION_CHECK", "1")


def rehearse():
    """Takes the way of a cell once, so that contexts need not be the first."""
    cells = Cells()
    cells.run("1 + 1\nawait_ = {'a': 1}\nawait_", 1)
    try:
        cells.run("1 / 0", 2)
    except ZeroDivisionError as error:
        failure.describe(error, cells.names)
    rich.bundle_of([1])
    cells.run("import asyncio\nawait asyncio.sleep(0)", 3)
    cells.drop_loop()


def live(request, channel_fd, output_fd, error_fd):
    """Never returns."""
    try:
        os.setsid()
        use_descriptors(output_fd, error_fd)
        channel = Channel(channel_fd)
        Context(channel).serve(request)
    except BrokenPipeError:
        pass  # the engine has hung up
    finally:
        os._exit(0)


def use_descriptors(output_fd, error_fd):
    """stdin is empty, stdout and stderr are these."""
    empty = os.open("/dev/null", os.O_RDONLY)
    for fd, place in ((empty, 0), (output_fd, 1), (error_fd, 2)):
        os.dup2(fd, place)
    for fd in (empty, output_fd, error_fd):
        os.close(fd)
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)


class Context:
    def __init__(self, channel):
        self.channel = channel
        self.cells = Cells()
        self._count = 0
        self._nonce = None
        self._running = False
        self._interrupted = False  # while the cell could not be ended
        self._pid = os.getpid()

    def serve(self, request):
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, self._on_interrupt)
        if request.get("ahead"):
            request = self._wait_ahead()
            if request is None:
                return
        try:
            if request.get("cwd"):
                os.chdir(request["cwd"])
        except OSError as error:
            return self.channel.send({"op": "refused", "reason": f"{request['cwd']}: {error.strerror}"})
        rich.use(self._publish, MOST_RESULT_BYTES)
        self.say_ready()
        while True:
            try:
                message = self.channel.receive()
                if message is not None and message["op"] == "execute":
                    self._execute(message)
            except BaseException:  # of a signal's handler that a cell has left: between cells nobody waits for it
                self.channel.check()
                self._end_cell()
                continue
            if message is None:
                return
            if message["op"] == "checkpoint":
                checkpoint.take(self, message["nonce"])

    def _wait_ahead(self):
        """The request, once there is one. Pages that a cell writes to are copied now and not while somebody waits."""
        rehearse()
        self.cells = Cells()
        self.say_ready()
        return self.channel.receive()

    def say_ready(self):
        self._pid = os.getpid()
        self.channel.send({"op": "ready", "pid": self._pid})

    def _on_interrupt(self, number, frame):
        self._interrupted = True
        if not self.channel.is_sending():  # half a frame would be the end of the context
            self._give_way()

    def _give_way(self):
        """Ends the cell if it was interrupted. Of the user's threads only the first one is."""
        if self._running and self._interrupted and threading.current_thread() is threading.main_thread():
            self._interrupted = False
            raise KeyboardInterrupt

    def _publish(self, bundle, main=False):
        if self._nonce is not None and os.getpid() == self._pid:
            self._flush()  # what was printed before it comes before it
            self.channel.send({"op": "result", "nonce": self._nonce, "main": main, "data": bundle})
            self._give_way()

    def _execute(self, message):
        self._count += 1
        self._nonce = message["nonce"]
        self._interrupted = False
        self.channel.send({"op": "count", "nonce": self._nonce, "count": self._count})
        before = _set_variables(message.get("env") or {})
        programs.refresh_imports()
        try:
            self._run(message["code"])
        except BaseException as error:
            self._running = False
            if os.getpid() != self._pid:
                self._end_as_program(error)
            self._tell(error)
        finally:
            self._running = False
            _restore_variables(before)
        self._end_cell()

    def _end_cell(self):
        self._running = False
        self._flush()
        if os.getpid() != self._pid:
            os._exit(0)  # a process that the cell forked and let return
        nonce, self._nonce = self._nonce, None
        if nonce is not None:
            self.channel.send({"op": "done", "nonce": nonce})

    def _run(self, code):
        try:
            signal.signal(signal.SIGINT, self._on_interrupt)  # whatever an earlier cell made of it
            self._running = True
            self._give_way()
            has_value, value = self.cells.run(code, self._count)
            if has_value:
                self._publish(rich.bundle_of(value), main=True)
                self.cells.keep(value)
        finally:
            # Drawing is the cell's work, too: it may be interrupted.
            figures.show_open_figures()
            self._running = False

    def _tell(self, error):
        self._flush()
        name, value, traceback = failure.describe(error, self.cells.names)
        self.channel.send({"op": "error", "nonce": self._nonce, "name": name, "value": value, "traceback": traceback})
        error.__traceback__ = None  # or the cell's values live as long as the next exception

    def _end_as_program(self, error):
        """As Python ends a program: a process that the cell forked has no other way to say how it ended."""
        status = error.code if isinstance(error, SystemExit) else 1
        try:
            if not isinstance(error, SystemExit):
                print(failure.describe(error, self.cells.names)[2], file=sys.stderr)
            elif status is not None and not isinstance(status, int):
                print(status, file=sys.stderr)
            self._flush()
        finally:
            os._exit(0 if status is None else status & 0xff if isinstance(status, int) else 1)

    def _flush(self):
        for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
            try:
                getattr(sys, name).flush()
            except KeyboardInterrupt:
                self._interrupted = True
            except BaseException:  # None, closed, or whatever the cell has put there
                pass


def _set_variables(variables):
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    return before


def _restore_variables(before):
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
