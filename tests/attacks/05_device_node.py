# attack: root inside makes the disk's device node
# family: 5
# runs: call exec root
# stopped-by: caps userns landlock
#
# With CAP_MKNOD outside a user namespace, the host's disk is one mknod away.
import errno
import os
import stat

_DEVICES = ((stat.S_IFBLK, 254, 0), (stat.S_IFBLK, 8, 0), (stat.S_IFCHR, 1, 1), (stat.S_IFCHR, 1, 11),
            (stat.S_IFCHR, 10, 229))


def attack():
    for kind, major, minor in _DEVICES:
        path = "/tmp/node"
        try:
            os.mknod(path, kind | 0o600, os.makedev(major, minor))
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM):
                return f"BROKEN: {error}"
            continue
        os.unlink(path)
        return f"ESCAPED: made device {major}:{minor}"
    return "HELD: no device node can be made"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
