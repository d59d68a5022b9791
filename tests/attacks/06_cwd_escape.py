# attack: out through the working directory or a directory descriptor
# family: 6
# runs: call exec root
# stopped-by: fds
#
# runc CVE-2024-21626: the process started in /proc/self/fd/7, a directory of the host, and `..` went on
# from there. An outside directory shows itself: its top is not our root.
import os
import stat


def _top(fd):
    """Where a thousand steps up from a directory lead."""
    status = os.stat("../" * 1000, dir_fd=fd)
    return status.st_dev, status.st_ino


def attack():
    root = os.stat("/")
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    if not os.getcwd().startswith("/") or "unreachable" in os.getcwd():
        return "ESCAPED: the working directory lies outside"
    for fd in range(4096):
        try:
            if not stat.S_ISDIR(os.fstat(fd).st_mode):
                continue
        except OSError:
            continue
        if _top(fd) != (root.st_dev, root.st_ino):
            return f"ESCAPED: descriptor {fd} is a directory outside"
    os.close(here)
    return "HELD: every directory that is open lies inside"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
