# attack: a write to /proc
# family: 10
# runs: exec root
# stopped-by: proc
#
# runc CVE-2025-52565 and its siblings misdirected a write into /proc. In a read-only /proc even the
# process's own name cannot be changed.
import errno


def attack():
    try:
        with open("/proc/self/comm", "w") as name:
            name.write("attack")
    except OSError as error:
        if error.errno in (errno.EROFS, errno.EACCES):
            return f"HELD: {error.strerror}"
        return f"BROKEN: {error}"
    return "ESCAPED: /proc is writable"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
