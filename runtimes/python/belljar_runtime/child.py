"""The life of a child: make fresh, say ready, take one call, answer, end.

A child that is not to be warm has said ready before Python ran at all: it waited for its call in the C part.
"""

from belljar_runtime.own_builtins import OWN as __builtins__

import sys
from posix import _exit, getpid, sched_yield

from belljar_runtime.call import Call
from belljar_runtime.channel import Channel
from belljar_runtime.first_use import use_again
from belljar_runtime.freshness import make_fresh
from belljar_runtime.rehearsal import rehearse

_stdout, _stderr = sys.stdout, sys.stderr


def live(channel_fd, warm, surroundings):
    """Never returns. Ends the process without Python's shutdown, which would run the tool's exit handlers."""
    try:
        _take_one_call(Channel(channel_fd), warm, surroundings)
    except OSError:
        pass  # the engine hung up, or the tool closed the channel
    finally:
        _exit(0)


def _take_one_call(channel, warm, surroundings):
    own_pid = getpid()
    make_fresh()
    if warm:
        _warm_up(surroundings)
        channel.send(b"R")
    frame = channel.receive()
    while frame is not None and frame[0] == b"W":
        _warm_up(surroundings)
        channel.send(b"R")
        frame = channel.receive()
    if frame is None or frame[0] != b"C":
        return
    answer = Call(frame[1], surroundings).answer()
    _flush_output()
    if getpid() != own_pid:
        return  # a process that the tool forked and let return; the first one answers
    channel.send(b"A", answer)
    # The engine often wakes on this very core: it must not wait until this process is taken apart.
    sched_yield()


def _warm_up(surroundings):
    rehearse(surroundings)
    use_again()
    _flush_output()


def _flush_output():
    """The engine must have all output when it has the answer."""
    streams = [_stdout, _stderr]
    if sys.stdout is not _stdout or sys.stderr is not _stderr:
        streams += [sys.stdout, sys.stderr]
    for stream in streams:
        try:
            stream.flush()
        except BaseException:  # None, closed, or whatever the tool has put there
            pass
