# attack: the same UUIDs in two calls
# family: 16
# runs: call
# stopped-by: design
# compare: must-differ
#
# Two objects with one id: overwritten files, exchanged sessions.
import uuid


def attack():
    return f"VALUE: {uuid.uuid4()}"
