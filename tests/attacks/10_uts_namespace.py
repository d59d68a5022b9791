# attack: the host's UTS namespace
# family: 10
# runs: exec root
# stopped-by: utsns
#
# Without a namespace the host's name is told, and could be set. Sandboxes are named belljar or after
# their id, sandbox-...; the first namespace of a machine has a fixed number.
import os
import socket

_OURS = ("belljar", "sandbox")
_FIRST_OF_THE_MACHINE = "uts:[4026531838]"


def attack():
    if os.readlink("/proc/self/ns/uts") == _FIRST_OF_THE_MACHINE:
        return "ESCAPED: this is the host's UTS namespace, " + os.uname().nodename
    if not socket.gethostname().startswith(_OURS):
        return "ESCAPED: the host is called " + socket.gethostname()
    return "HELD: a namespace of its own, called " + os.uname().nodename


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
