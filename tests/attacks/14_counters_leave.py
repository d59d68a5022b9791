# attack: counters that tell what an earlier call did with its network (left)
# family: 14
# runs: call
# stopped-by: netns
# pair: leave
# pair-name: counters
#
# No socket stays open and no connection comes about: only numbers in the namespace are other ones than before.
import socket

_CLOSED_PORT, _NOWHERE = 40405, "192.0.2.1"


def attack():
    with socket.socket() as one:
        one.settimeout(1)
        refused = one.connect_ex(("127.0.0.1", _CLOSED_PORT))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        unreachable = other.connect_ex((_NOWHERE, 53))
    return f"HELD: left for the next ({refused}, {unreachable})"
