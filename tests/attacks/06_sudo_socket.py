# attack: garbage, floods and foreign descriptors on the warden's sudo socket
# family: 6
# runs: exec
# stopped-by: design
# needs: sudo
#
# The warden's parser runs as root inside and reads what anybody sends. It must survive, not block, and
# never hand back a descriptor. SO_PEERCRED is the kernel's word: nothing in a message can change it.
import os
import socket
import struct
import subprocess

_PATHS = ("/run/belljar/sudo.sock", "/run/warden.sock")


def _messages():
    yield b""
    yield b"\0" * 65536
    yield b"\xff" * 4096
    yield struct.pack("<I", 0xFFFFFFFF) + b"sh\0"
    yield struct.pack("<I", 1) + b"A" * 100000
    yield b"sh\0-c\0id\0" + b"\0" * 100


def attack():
    path = next((path for path in _PATHS if os.path.exists(path)), None)
    if path is None:
        return "HELD: there is no sudo socket"
    null = os.open("/dev/null", os.O_RDONLY)
    for message in _messages():
        for descriptors in ([], [null], [null] * 64):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
                peer.settimeout(0.1)
                try:
                    peer.connect(path)
                    socket.send_fds(peer, [message], descriptors)
                    _, given, _, _ = socket.recv_fds(peer, 4096, 64)
                except OSError:
                    continue
                if given:
                    return f"ESCAPED: the warden handed out {len(given)} descriptors"
    if subprocess.run(["/bin/true"]).returncode != 0:
        return "BROKEN: nothing can be started any more"
    return "HELD: the warden refused all of it"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
