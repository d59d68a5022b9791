# attack: a daemon that outlives the program that made it
# family: 24
# runs: call exec root
# stopped-by: reaper
#
# The program ends well; its daemon stays. The runner looks for it on the host after the sandbox is gone.
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
    _daemon()
    return "HELD: a daemon is left; the runner looks for it"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
