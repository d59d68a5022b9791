# attack: descriptors asked for and sent over every inherited socket
# family: 6
# runs: call exec root
# stopped-by: fds
#
# A socket to a privileged peer passes descriptors both ways: take what comes, and push one of ours.
import array
import os
import socket
import stat


def _sockets():
    for fd in range(256):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                yield socket.socket(fileno=os.dup(fd))
        except OSError:
            continue


def attack():
    tried = 0
    for peer in _sockets():
        with peer:
            if peer.family != socket.AF_UNIX:
                return f"ESCAPED: a socket of family {peer.family} is open"
            tried += 1
            try:
                _, ancillary, _, _ = peer.recvmsg(0, socket.CMSG_SPACE(4 * 16), socket.MSG_DONTWAIT | socket.MSG_PEEK)
            except OSError:
                continue
            got = array.array("i")
            for level, kind, data in ancillary:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    got.frombytes(data)
            if got:
                return f"ESCAPED: {len(got)} descriptors lay in a socket"
    return f"HELD: {tried} sockets gave nothing"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
