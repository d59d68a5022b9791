# attack: a message to other sandboxes in the times of /dev/null
# family: 10
# runs: call exec root
# stopped-by: dev
#
# One /dev serves all sandboxes. Who may write to a node may set its times, unless the mount is
# read-only: a channel between tenants that no network rule sees.
import errno
import os


def attack():
    for node in ("/dev/null", "/dev/zero", "/dev/full"):
        try:
            os.utime(node)
        except OSError as error:
            if error.errno not in (errno.EROFS, errno.EPERM, errno.EACCES):
                return f"BROKEN: {node}: {error}"
            continue
        return f"ESCAPED: changed the times of {node}"
    return "HELD: the nodes cannot be changed"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
