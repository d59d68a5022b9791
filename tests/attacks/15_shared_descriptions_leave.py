# attack: flags of descriptors that all calls inherit (left)
# family: 15
# runs: call
# stopped-by: design
# pair: leave
# pair-name: shared_descriptions
#
# A descriptor that the zygote opened once is one open file in all its children: flags, position, locks
# and the owner of its signals are common. Non-blocking stdin for one is non-blocking for all.
import fcntl
import os


def attack():
    marked = 0
    for fd in range(64):
        try:
            fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_APPEND)
            marked += 1
        except OSError:
            pass
    return "HELD: marked, the next call looks" if marked else "BROKEN: no descriptor at all"
