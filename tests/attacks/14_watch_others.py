# attack: which files the other calls open
# family: 14
# runs: call
# stopped-by: seccomp
#
# The calls of one zygote have the same files below them. inotify and its elder, dnotify, tell whoever watches a directory
# which file of it somebody opens: what the next tenant imports, and when.
import ctypes
import errno
import fcntl
import os

_libc = ctypes.CDLL(None, use_errno=True)
_IN_OPEN, _F_NOTIFY, _DN_ACCESS = 0x20, 1026, 1


def attack():
    watcher = _libc.inotify_init1(os.O_NONBLOCK)
    if watcher >= 0 and _libc.inotify_add_watch(watcher, b"/etc", _IN_OPEN) >= 0:
        return "ESCAPED: it watches the files of all calls"
    directory = os.open("/etc", os.O_RDONLY)
    try:
        fcntl.fcntl(directory, _F_NOTIFY, _DN_ACCESS)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return "HELD: no watching"
        return "BROKEN: " + os.strerror(error.errno)
    return "ESCAPED: it is told of every access by a signal"
