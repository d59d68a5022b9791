# attack: mounts of other calls and of the host in the own mount table
# family: 7
# runs: call exec root
# stopped-by: mountns
#
# Without a mount namespace every call's private /tmp lies on top of the others' for all to see.
import collections


def attack():
    try:
        with open("/proc/self/mountinfo") as table:
            lines = [line.split() for line in table]
    except FileNotFoundError:
        return "ESCAPED: another call's /proc lies over the own"
    points = collections.Counter(fields[4] for fields in lines)
    for private in ("/tmp", "/home/user", "/run"):
        if points[private] > 1:
            return f"ESCAPED: {points[private]} filesystems lie on {private}"
    foreign = [fields[4] for fields in lines if fields[4].startswith(("/layers", "/scratch", "/work", "/boot", "/mnt"))]
    if foreign or len(lines) > 60:
        return f"ESCAPED: {len(lines)} mounts, among them {foreign[:3]}"
    return f"HELD: {len(lines)} mounts, all of them the own"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
