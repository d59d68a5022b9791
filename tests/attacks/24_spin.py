# attack: a loop that ignores every signal that can be ignored
# family: 24
# runs: call exec root
# stopped-by: wall
# limits: wall_ms=1000
# expect: killed-by wall
#
# SIGTERM is a request.
import signal
import time


def attack():
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    deadline = time.monotonic() + 6
    while time.monotonic() < deadline:
        pass
    return "ESCAPED: six seconds in a sandbox of one"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
