# attack: descriptors that nobody meant to give
# family: 6
# runs: call exec root
# stopped-by: fds
#
# runc CVE-2024-21626, and half of all sandbox escapes before it: something stayed open. A program has
# 0, 1 and 2; a call has its channel as well, 3.
import os
import stat


def _describe(fd):
    try:
        return f"{fd} ({os.readlink(f'/proc/self/fd/{fd}')})"
    except OSError:
        return str(fd)


def attack():
    allowed = 3 if __name__ == "__main__" else 4
    strange = []
    for fd in range(4096):
        try:
            mode = os.fstat(fd).st_mode
        except OSError:
            continue
        if fd >= allowed or stat.S_ISDIR(mode) or stat.S_ISBLK(mode):
            strange.append(_describe(fd))
    if strange:
        return "ESCAPED: inherited " + ", ".join(strange)
    return "HELD: only what was meant to be given"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
