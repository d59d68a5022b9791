# attack: open files without end
# family: 24
# runs: call exec root
# stopped-by: rlimits
#
# Each open file is kernel memory, and the machine has one table of them for all (fs.file-max).
import os
import resource

_ENOUGH = 16384


def attack():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    opened = []
    try:
        while len(opened) < _ENOUGH:
            opened.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        return f"HELD: after {len(opened)} files: {error.strerror}"
    finally:
        for fd in opened:
            os.close(fd)
    return f"ESCAPED: {_ENOUGH} open files"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
