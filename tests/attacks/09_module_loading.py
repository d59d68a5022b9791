# attack: requests of an ordinary user that make the host's kernel load modules
# family: 9
# runs: call exec root
# stopped-by: seccomp
#
# A line discipline by its number (n_gsm: CVE-2023-6546, n_hdlc: CVE-2017-2636), a bridge or a VLAN asked for on any
# socket, SCTP or DCCP by the type alone: each is a line of modprobe on the host before anybody checks a privilege.
import errno
import fcntl
import os
import pty
import socket

_TIOCSETD = 0x5423
_ON_SOCKETS = {"bridge": 0x8940, "8021q": 0x8982}
_TYPES = {"SCTP": 5, "DCCP": 6}
_FILTERED = (errno.EPERM, errno.ENOSYS)


def _error_of(call):
    try:
        call()
    except OSError as error:
        return error.errno
    return 0


def attack():
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    tried = {name: lambda request=request: fcntl.ioctl(one, request, bytes(64)) for name, request in _ON_SOCKETS.items()}
    tried.update((name, lambda kind=kind: socket.socket(socket.AF_INET, kind, 0)) for name, kind in _TYPES.items())
    master, slave = pty.openpty()
    for number in (3, 13, 21):  # N_PPP, N_HDLC, N_GSM0710
        tried[f"line discipline {number}"] = lambda number=number: fcntl.ioctl(
            slave, _TIOCSETD, number.to_bytes(4, "little"))
    passed = [f"{name} ({os.strerror(error)})" for name, call in tried.items()
              if (error := _error_of(call)) not in _FILTERED]
    for fd in (master, slave):
        os.close(fd)
    return "ESCAPED: the kernel was asked for " + ", ".join(passed) if passed else "HELD: none of them got through"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
