# attack: one file of eight terabytes
# family: 24
# runs: call exec root
# stopped-by: rlimits
#
# It costs nothing here, and a server that copies or hashes it byte by byte never ends.
import errno
import os
import signal


def attack():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    file = os.open("/tmp/sparse", os.O_CREAT | os.O_RDWR)
    try:
        os.truncate(file, 8 << 40)
    except OSError as error:
        if error.errno in (errno.EFBIG, errno.ENOSPC, errno.EDQUOT):
            return f"HELD: {error.strerror}"
        return f"BROKEN: {error}"
    finally:
        os.unlink("/tmp/sparse")
    return "ESCAPED: a file of 8 TB"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
