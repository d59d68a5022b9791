# attack: a handle on whoever holds the other end of a socket that was inherited
# family: 8
# runs: call
# stopped-by: design
#
# SO_PEERPIDFD (Linux 6.5) makes a pidfd of the process that made the socket, which is the engine or its launcher, without
# asking what PID namespace it is in. It must be good for nothing: no signal, no namespace, nothing told about it.
import errno
import fcntl
import os
import signal
import socket
import struct

_SO_PEERPIDFD = 77
_NAMESPACES = range(0xFF01, 0xFF0B)  # PIDFD_GET_CGROUP_NAMESPACE to PIDFD_GET_UTS_NAMESPACE (Linux 6.11)
_GET_INFO = 0xC040FF0B


def _peers():
    for name in os.listdir("/proc/self/fd"):
        try:
            with socket.socket(fileno=os.dup(int(name))) as inherited:
                yield struct.unpack("i", inherited.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD, 4))[0]
        except OSError:
            pass  # no socket, no peer, or an older kernel


def _told_about(peer):
    info = bytearray(64)
    struct.pack_into("Q", info, 0, 0xFFFF)
    fcntl.ioctl(peer, _GET_INFO, info)
    return struct.unpack_from("I", info, 16)[0]  # its number, as we see it


def attack():
    seen = 0
    for peer in _peers():
        seen += 1
        attempts = [("a signal", lambda fd: signal.pidfd_send_signal(fd, 0)), ("its number", _told_about)]
        attempts += [("a namespace", lambda fd, which=which: fcntl.ioctl(fd, which, 0)) for which in _NAMESPACES]
        for what, attempt in attempts:
            try:
                attempt(peer)
                return f"ESCAPED: {what} through a pidfd of the engine"
            except OSError as error:
                if error.errno in (errno.EBADF, errno.EFAULT):
                    return f"BROKEN: errno {error.errno}"
    return f"HELD: {seen} pidfds of who made our sockets, good for nothing"
