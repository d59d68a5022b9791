# attack: sleeping past the deadline
# family: 24
# runs: call exec root
# stopped-by: wall
# limits: wall_ms=1000
# expect: killed-by wall
#
# No CPU, no output: only a clock outside sees it.
import time


def attack():
    time.sleep(6)
    return "ESCAPED: six seconds in a sandbox of one"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
