# attack: a gigabyte of output
# family: 24
# runs: call exec root
# stopped-by: output
# limits: output_bytes=65536 wall_ms=4000
# expect: killed-by output
#
# What is printed must be cut, with a note, and cost neither memory nor the server's patience.
import os
import time


def attack():
    block = b"A" * 65536
    deadline = time.monotonic() + 1.5
    for _ in range(1 << 14):
        if time.monotonic() > deadline:
            break
        os.write(1, block)
    os.write(1, b"\n")
    return "HELD: printed; the runner measures what arrived"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
