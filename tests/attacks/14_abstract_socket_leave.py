# attack: a listener on an abstract socket that stays behind (left)
# family: 14
# runs: call exec
# stopped-by: netns reaper landlock
# pair: leave
# pair-name: abstract_socket
#
# Abstract names belong to the network namespace, not to a file. The listener leaves its parents and
# the session, to be there when the next one comes.
import os
import socket
import time


def attack():
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind("\0belljar-residue")
    listener.listen()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in (0, 1, 2):
                os.close(fd)
            time.sleep(5)
        os._exit(0)
    return "HELD: left for the next"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
