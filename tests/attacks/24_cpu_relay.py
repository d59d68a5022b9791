# attack: CPU time used up by a relay of short processes
# family: 24
# runs: call exec root
# stopped-by: cpu
# limits: cpu_ms=1000 wall_ms=20000
# expect: killed-by cpu
#
# RLIMIT_CPU counts for one process: none of these reaches it. Together they use four seconds.
import os
import time


def attack():
    for _ in range(16):
        pid = os.fork()
        if pid == 0:
            while time.process_time() < 0.25:
                pass
            os._exit(0)
        os.waitpid(pid, 0)
    return "ESCAPED: four seconds of CPU in a sandbox of one"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
