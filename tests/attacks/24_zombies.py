# attack: zombies that nobody waits for
# family: 24
# runs: exec root
# stopped-by: pids rlimits
#
# A zombie keeps its number. Process 1 must reap the orphans, or the sandbox clogs up.
import os
import time


def attack():
    for _ in range(200):
        if os.fork() == 0:
            if os.fork() == 0:
                os._exit(0)  # an orphan as soon as its parent ends
            os._exit(0)
        os.wait()
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        states = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat") as text:
                    states.append(text.read().rpartition(")")[2].split()[0])
            except OSError:
                pass
        if "Z" not in states:
            return "HELD: process 1 reaps orphans"
        time.sleep(0.02)
    return f"ESCAPED: {states.count('Z')} zombies stay"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
