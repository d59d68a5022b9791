# attack: a fork bomb spread over many users
# family: 24
# runs: root
# stopped-by: pids
# limits: processes=64
# expect: killed-by pids
#
# RLIMIT_NPROC counts by user, and root inside has 65,536 of them: only the cgroup counts them all.
import os
import signal

_ENOUGH = 300


def _child(user, ready, hold):
    try:
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        os.write(ready, b"r")
        os.read(hold, 1)  # until killed
    finally:
        os._exit(0)


def attack():
    ready_reader, ready = os.pipe()
    hold, _hold_writer = os.pipe()
    children = []
    try:
        for number in range(_ENOUGH):
            pid = os.fork()
            if pid == 0:
                _child(2000 + number, ready, hold)
            children.append(pid)
            os.read(ready_reader, 1)
    except OSError as error:
        return f"HELD: after {len(children)} processes: {error.strerror}"
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        for pid in children:
            os.waitpid(pid, 0)
    return f"ESCAPED: {_ENOUGH} processes of as many users"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
