# attack: random bytes instead of an answer
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
#
# On every descriptor there is: whichever the engine reads, it reads this.
import os


def attack():
    for fd in range(3, 64):
        try:
            os.write(fd, os.urandom(4096))
        except OSError:
            pass
    os._exit(0)
