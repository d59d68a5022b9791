# attack: the host's root, left mounted below or over the new one
# family: 3
# runs: call exec root
# stopped-by: root
#
# pivot_root without the umount that must follow leaves the whole host behind: under a directory, or
# stacked over / where only `..` finds it.
import os

_HOST_SIGNS = ("proc", "dev", "usr", "old", "new", "scratch", "layers")  # a second root, or the launcher's own


def _looks_like_a_root(path):
    try:
        names = set(os.listdir(path))
    except OSError:
        return False
    return len(names.intersection(_HOST_SIGNS)) >= 4


def attack():
    with open("/proc/self/mountinfo") as table:
        points = [line.split()[4] for line in table]
    if points.count("/") > 1:
        return "ESCAPED: two filesystems are mounted on /"
    if _looks_like_a_root("/") and {"scratch", "layers"} <= set(os.listdir("/")):
        return "ESCAPED: this is the launcher's root"
    for name in os.listdir("/"):
        if _looks_like_a_root("/" + name):
            return f"ESCAPED: /{name} is another root"
    return "HELD: there is no other root"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
