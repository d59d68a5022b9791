# attack: the same user id in two calls
# family: 14
# runs: call
# stopped-by: uid
# compare: must-differ
#
# Two calls of one user may signal, trace and limit each other, and share keyrings: each has its own id.
import os


def attack():
    return f"VALUE: {os.getuid()}"
