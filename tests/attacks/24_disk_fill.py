# attack: the disk filled, file by file
# family: 24
# runs: call exec root
# stopped-by: disk
# limits: disk_bytes=16777216 memory_bytes=536870912
# expect: killed-by disk
#
# In every place that can be written, in files small enough for any limit on one file.
import os


def _fill(place):
    written = 0
    try:
        for number in range(96):
            with open(f"{place}/fill{number}", "wb") as file:
                file.write(b"x" * (1 << 20))
            written += 1
    except OSError as error:
        return written, error.strerror
    return written, "no end"


def attack():
    total, how = 0, {}
    for place in ("/tmp", "/home/user", "/dev/shm", "/var/tmp"):
        if os.access(place, os.W_OK):
            written, how[place] = _fill(place)
            total += written
    if not how:
        return "BROKEN: nothing can be written"
    return f"ESCAPED: {total} MB in a sandbox of 16" if total > 40 else f"HELD: after {total} MB: {how}"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
