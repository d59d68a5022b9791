# attack: exit status 0 without an answer
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
#
# Success must be said, not concluded from silence.
import os


def attack():
    os._exit(0)
