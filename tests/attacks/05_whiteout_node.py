# attack: a device node that needs no capability: the overlay's whiteout
# family: 5
# runs: call exec root
# stopped-by: landlock
#
# Char device 0:0 may be made by anybody since Linux 5.8. Planted in a layer it deletes files of the
# layer below, when the directory is snapshotted or imported as a template.
import errno
import os
import stat


def attack():
    refusals = []
    for place in ("/dev/shm", "/tmp", "/home/user"):
        path = place + "/whiteout"
        try:
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(0, 0))
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM):
                return f"BROKEN: {path}: {error}"
            refusals.append(f"{place} {error.strerror}")
            continue
        os.unlink(path)
        return f"ESCAPED: a device node in {place}"
    return "HELD: " + ", ".join(refusals)


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
