# attack: more of the machine than one's share
# family: 24
# runs: call exec root
# stopped-by: cpu
# limits: cpus=0.2
#
# Two spinning processes, in a sandbox that may have a fifth of one CPU.
import os
import time


def attack():
    reader, writer = os.pipe()
    for _ in range(2):
        if os.fork() == 0:
            deadline = time.monotonic() + 1
            before = time.process_time()
            while time.monotonic() < deadline:
                pass
            os.write(writer, f"{time.process_time() - before:.3f} ".encode())
            os._exit(0)
    for _ in range(2):
        os.wait()
    used = sum(float(text) for text in os.read(reader, 64).split())
    return f"ESCAPED: {used:.2f} s of CPU in a second" if used > 0.4 else f"HELD: {used:.2f} s of CPU in a second"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
