# attack: terminals without end
# family: 24
# runs: call exec root
# stopped-by: design
#
# The kernel has 4096 for all: whoever holds them leaves every other sandbox without a terminal. A sandbox's instance of
# devpts has its own, lower bound.
import os

_TOO_MANY = 200


def attack():
    opened = []
    try:
        while len(opened) < _TOO_MANY:
            opened.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
    except OSError as error:
        if not opened:
            return "BROKEN: " + error.strerror
        return f"HELD: after {len(opened)}: {error.strerror}"
    finally:
        for fd in opened:
            os.close(fd)
    return f"ESCAPED: {_TOO_MANY} terminals"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
