"""A context's state at one moment, kept as a process that waits, and gone back to by forking it again.

`take` forks: the child is the checkpoint, the parent goes on. When the engine wants the state back it ends the live process
and sends the checkpoint new descriptors; that forks, and the child is the live context from then on. It can be repeated.
Memory is shared until it is written. What lies outside the process is not undone: contents of files, what other processes
did. Offsets of open files are put back; connections are not kept.
"""

import gc
import os
import signal
import socket
import stat
import sys
import threading

from belljar_interpreter.channel import Channel


def take(context, nonce):
    """Returns in the live process, and again in each process that a rollback makes live."""
    descriptors = context.channel.take_descriptors()
    reason = "no descriptor came with the request" if len(descriptors) != 1 else _why_not(context)
    if reason:
        for fd in descriptors:
            os.close(fd)
        return context.channel.send({"op": "refused", "nonce": nonce, "reason": reason})
    context.cells.drop_loop()
    offsets, sockets = _look_at_descriptors(descriptors[0])  # before anybody can move them
    gc.freeze()  # else the collector writes to every object, and every page is copied
    try:
        pid = os.fork()
    except OSError as error:
        os.close(descriptors[0])
        return context.channel.send({"op": "refused", "nonce": nonce, "reason": f"fork: {error.strerror}"})
    if pid != 0:
        os.setpgid(pid, pid)  # what is sent to the live process's group from now on is not for it
        os.close(descriptors[0])
        return context.channel.send({"op": "checkpointed", "nonce": nonce})
    try:
        _wait_as_checkpoint(context, descriptors[0], offsets, sockets)
    except BaseException:
        os._exit(1)


def _why_not(context):
    if threading.active_count() > 1 or len(sys._current_frames()) > 1:
        return "the context has threads, which a checkpoint can't keep: end them first"
    if _tasks() > 1:
        # Libraries that compute in threads of their own (OpenBLAS) end them before a fork, if they can be forked at all.
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
    if _tasks() > 1:
        return "a library runs threads in the context, which a checkpoint can't keep"
    if context.cells.pending_tasks():
        return "asyncio tasks are pending in the context: await or cancel them first"
    return None


def _tasks():
    return len(os.listdir("/proc/self/task"))


def _wait_as_checkpoint(context, fd, offsets, sockets):
    """Only a process that a rollback made live returns."""
    _let_go_of(sockets)
    context.channel.close()
    before = signal.getsignal(signal.SIGCHLD)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _let_go_of_stdio()
    waiting = Channel(fd)
    while True:
        message = waiting.receive()
        if message is None:
            os._exit(0)
        descriptors = waiting.take_descriptors()
        if len(descriptors) == 3 and os.fork() == 0:
            break
        for descriptor in descriptors:
            os.close(descriptor)
    os.setsid()
    waiting.close()
    _go_on(context, descriptors, offsets, before)


def _go_on(context, descriptors, offsets, on_child):
    from belljar_interpreter.context import use_descriptors
    use_descriptors(descriptors[1], descriptors[2])
    for fd, offset in offsets.items():
        try:
            os.lseek(fd, offset, os.SEEK_SET)
        except OSError:
            pass
    signal.signal(signal.SIGCHLD, on_child if on_child is not None else signal.SIG_DFL)
    signal.signal(signal.SIGINT, context._on_interrupt)
    context.channel = Channel(descriptors[0])
    context.say_ready()


def _let_go_of_stdio():
    null = os.open("/dev/null", os.O_RDWR)
    for place in (0, 1, 2):
        os.dup2(null, place)
    os.close(null)


def _look_at_descriptors(own):
    """Offsets of open files; the numbers of sockets."""
    offsets, sockets = {}, []
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        try:
            mode = os.fstat(fd).st_mode
            if stat.S_ISREG(mode):
                offsets[fd] = os.lseek(fd, 0, os.SEEK_CUR)
            elif stat.S_ISSOCK(mode) and fd != own:
                sockets.append(fd)
        except OSError:
            pass  # the directory's own
    return offsets, sockets


def _let_go_of(sockets):
    """They become dead ones, so that a peer sees the end when the live process lets go."""
    if sockets:
        dead, other = socket.socketpair()
        other.close()
        for fd in sockets:
            os.dup2(dead.fileno(), fd, inheritable=False)
        dead.close()
