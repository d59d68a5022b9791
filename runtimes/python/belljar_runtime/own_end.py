"""The process of a call is the first of its PID namespace, and the kernel lets no signal from inside end that one: a tool
that kills itself would go on, and succeed. Here it ends, as anywhere else."""

from belljar_runtime.own_builtins import OWN as __builtins__

import _signal
import posix
import sys

_NOT_ENDING = frozenset((_signal.SIGCHLD, _signal.SIGCONT, _signal.SIGURG, _signal.SIGWINCH, _signal.SIGSTOP,
                         _signal.SIGTSTP, _signal.SIGTTIN, _signal.SIGTTOU))
_SIG_DFL, _SIGKILL, _get_handler = int(_signal.SIG_DFL), int(_signal.SIGKILL), _signal.getsignal
_kill, _raise_signal, _own_pid, _exit = posix.kill, _signal.raise_signal, posix.getpid, posix._exit


def arrange():
    """Once, in the zygote, before anything imports `os` or `signal`."""
    for module, name, function in ((posix, "kill", kill), (_signal, "raise_signal", raise_signal)):
        setattr(module, name, function)
        public = sys.modules.get("os" if module is posix else "signal")
        if public is not None:
            setattr(public, name, function)


def kill(pid, signal, /):
    """Kill a process with a signal."""
    _kill(pid, signal)
    if pid == 0 or pid == _own_pid():
        _end_by(signal)


def raise_signal(signalnum, /):
    """Send a signal to the executing process."""
    _raise_signal(signalnum)
    _end_by(signalnum)


def _end_by(signal):
    if signal == 0 or signal in _NOT_ENDING or _own_pid() != 1:
        return
    if signal == _SIGKILL or _get_handler(signal) == _SIG_DFL:
        _exit(128 + signal)
