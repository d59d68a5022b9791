# attack: signals to the zygote and to the other calls (left)
# family: 15
# runs: call
# stopped-by: session uid
# pair: leave
# pair-name: zygote_signals
#
# A process group reaches across pid namespaces: in the zygote's group, kill(0) hits the zygote and
# all waiting children, if the user is the same.
import os
import signal


def attack():
    if os.getpid() != 1:
        return "ESCAPED: a call is not process 1 of its own namespace"
    for number in (signal.SIGHUP, signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
        for target in (0, -1, os.getppid()):
            try:
                os.kill(target, number)
            except (ProcessLookupError, PermissionError):
                pass
    return "HELD: sent; the next call tells"
