# attack: devices that are not in a minimal /dev
# family: 10
# runs: call exec root
# stopped-by: dev
#
# /dev/kvm, /dev/fuse, disks, /dev/mem, the console's memory: whatever the host has, if its /dev came in.
import os
import stat

_MINIMAL = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}


def attack():
    strange = []
    for folder, _, names in os.walk("/dev"):
        if folder.startswith(("/dev/pts", "/dev/shm")):
            continue
        for name in names:
            mode = os.lstat(f"{folder}/{name}").st_mode
            if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and name not in _MINIMAL:
                strange.append(name)
    if not os.path.exists("/dev/null"):
        return "BROKEN: there is no /dev/null"
    return "ESCAPED: /dev has " + " ".join(strange[:10]) if strange else "HELD: /dev is minimal"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
