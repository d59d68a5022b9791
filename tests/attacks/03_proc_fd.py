# attack: files of others through /proc/PID/fd and /proc/PID/map_files
# family: 3
# runs: call exec root
# stopped-by: pidns caps landlock
#
# A descriptor of another process, reopened, skips every check of the path it came by. The warden's
# are the most valuable.
import os


def _family():
    """Processes that the attacker owns: itself and those it came from, up to the warden."""
    pids, pid = set(), os.getpid()
    while pid > 1:
        pids.add(pid)
        with open(f"/proc/{pid}/stat") as text:
            pid = int(text.read().rpartition(")")[2].split()[1])
    return pids | {os.getpid()}


def _seen(pid):
    """What of a process can be followed; that its directory can be listed tells numbers only."""
    for place in ("fd", "map_files"):
        try:
            names = os.listdir(f"/proc/{pid}/{place}")
        except OSError:
            continue
        yield from (f"/proc/{pid}/{place}/{name}" for name in names)
    yield from (f"/proc/{pid}/{name}" for name in ("cwd", "exe", "root"))


def attack():
    others = [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in _family()]
    for pid in others:
        for path in _seen(pid):
            for look in (os.readlink, os.stat, lambda file: os.close(os.open(file, os.O_RDONLY | os.O_NONBLOCK))):
                try:
                    look(path)
                except OSError:
                    continue
                return f"ESCAPED: {path} of another process can be followed"
    return f"HELD: nothing of {len(others)} other processes can be followed"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
