# attack: the same clock sequence and node in two calls
# family: 16
# runs: call
# stopped-by: design
# compare: must-differ
#
# uuid1 is unique by node, sequence and time: forks share the first two, and at the same tick all three.
# The sequence must be drawn anew.
import uuid


def attack():
    return f"VALUE: {uuid.uuid1().clock_seq} {uuid.getnode()}"
