# attack: daemons in their own sessions when the deadline comes
# family: 24
# runs: call exec root
# stopped-by: reaper
# limits: wall_ms=1000
# expect: killed-by wall
#
# Killing the process group is not enough: these have left it.
import os
import signal
import time


def _daemon():
    """Double fork, own session, all signals ignored, no descriptor left: nothing ties it to its maker."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.chdir("/")
            os.closerange(0, 64)
            for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            time.sleep(30)
        os._exit(0)


def attack():
    for _ in range(8):
        _daemon()
    time.sleep(6)
    return "ESCAPED: six seconds in a sandbox of one"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
