# attack: output of NUL, escape sequences and half characters, then silence
# family: 24
# runs: call exec root
# stopped-by: output
# limits: output_bytes=65536
# expect: killed-by output
#
# Readers that wait for a line end, or for a whole character, wait for ever; terminals obey.
import os


def attack():
    os.write(1, b"\0" * 70000 + b"\x1b]52;c;aGk=\x07\x1b[2J\xe2\x82")
    os.write(2, b"\xff" * 70000)
    os.write(1, b"\n")
    return "HELD: printed; the runner measures what arrived"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
