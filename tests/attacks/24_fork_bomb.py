# attack: a fork bomb
# family: 24
# runs: call exec root
# stopped-by: pids rlimits
# limits: processes=64
# expect: killed-by pids
#
# Bounded here at 600, so that a machine without limits survives it too.
import os
import signal

_ENOUGH = 600


def attack():
    reader, writer = os.pipe()
    children = []
    try:
        for _ in range(_ENOUGH):
            pid = os.fork()
            if pid == 0:
                os.close(writer)
                os.read(reader, 1)  # until the parent ends
                os._exit(0)
            children.append(pid)
    except OSError as error:
        return f"HELD: after {len(children)} processes: {error.strerror}"
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        for pid in children:
            os.waitpid(pid, 0)
    return f"ESCAPED: {_ENOUGH} processes at once"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
