# attack: signals to the zygote and to the other calls (left)
# family: 15
# runs: call
# stopped-by: session uid
# pair: leave
# pair-name: zygote_signals
#
# A process group reaches across pid namespaces: in the zygote's group, kill(0) hits the zygote and
# all waiting children, if the user is the same.
import ctypes
import os
import signal


def attack():
    if os.getpid() != 1:
        return "ESCAPED: a call is not process 1 of its own namespace"
    kill = ctypes.CDLL(None).kill  # os.kill would end this call first
    for number in (signal.SIGHUP, signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
        for target in (0, -1, os.getppid()):
            kill(target, number)
    return "HELD: sent; the next call tells"
