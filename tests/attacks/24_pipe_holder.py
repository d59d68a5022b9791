# attack: a child that holds stdout open after the program has ended
# family: 24
# runs: call exec root
# stopped-by: design
# limits: wall_ms=5000
#
# Who reads output until it ends waits for the child, not for the program (a classic of CI runners).
import os
import time


def attack():
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
    return "HELD: a child holds the output; the answer must come at once all the same"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
