# attack: recursion beyond the real stack
# family: 29
# runs: call
# stopped-by: result
# expect: answer-refused
#
# The interpreter dies by SIGSEGV: an error for the caller, nothing for the server.
import sys


def attack():
    sys.setrecursionlimit(1 << 30)

    def deeper(_):
        return sorted([0], key=deeper)

    return deeper(0)
