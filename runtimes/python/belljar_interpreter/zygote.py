"""Forks contexts: the engine sends a working directory and three descriptors, the fork becomes a context with them.

`{"ahead": true}` instead of a directory asks for one that is not wanted yet: it rehearses, and is told the directory later.
"""

import gc
import importlib
import json
import os
import signal
import socket

from belljar_interpreter import context, import_hooks, notebook_display
from belljar_interpreter.channel import receive_with_descriptors

MOST_BYTES = 65536
PRELOAD = "BELLJAR_PRELOAD"  # of the template: modules that its contexts have imported when they begin


def serve(control_fd):
    control = socket.socket(fileno=control_fd)
    control.set_inheritable(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a context ended
    context.prepare_process()
    import_hooks.install()
    notebook_display.install()
    _preload(os.environ.get(PRELOAD, ""))
    context.rehearse()
    gc.collect()
    gc.freeze()
    control.send(b"R")
    while True:
        packet, descriptors = receive_with_descriptors(control, MOST_BYTES)
        if not packet:
            return
        if len(descriptors) == 3 and _fork() == 0:
            control.close()
            context.live(json.loads(packet), *descriptors)
        for fd in descriptors:
            os.close(fd)


def _fork():
    """None: there is no room for another process. The engine sees it by its descriptors, which are closed."""
    try:
        return os.fork()
    except OSError:
        return None


def _preload(names):
    for name in filter(None, names.split(",")):
        try:
            importlib.import_module(name.strip())
        except Exception:
            pass  # a cell that imports it is told why
