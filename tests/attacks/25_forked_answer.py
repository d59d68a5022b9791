# attack: two processes that both return
# family: 25
# runs: call
# stopped-by: result
#
# A fork inside the tool: the child answers first and forged, the parent after it.
import os


def attack():
    if os.fork() == 0:
        return "ESCAPED: the child's answer was taken"
    os.wait()
    return "HELD: the parent's answer was taken"
