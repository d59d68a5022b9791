# attack: a hundred thousand empty files
# family: 24
# runs: call exec root
# stopped-by: disk
# limits: disk_bytes=16777216
# expect: killed-by disk
#
# No bytes at all, but each an inode: a disk can be full of nothing.
import os


def attack():
    made = 0
    os.mkdir("/tmp/inodes")
    try:
        for number in range(20000):
            os.close(os.open(f"/tmp/inodes/{number}", os.O_CREAT | os.O_WRONLY))
            made += 1
    except OSError as error:
        return f"HELD: after {made} files: {error.strerror}"
    return f"ESCAPED: {made} files in a sandbox of 16 MB"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
