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


def attack():
    others = [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in _family()]
    for pid in others:
        for place in ("fd", "map_files", "cwd", "exe"):
            try:
                look = os.listdir if place in ("fd", "map_files") else os.readlink
                look(f"/proc/{pid}/{place}")
            except OSError:
                continue
            return f"ESCAPED: /proc/{pid}/{place} of another process is open"
    return f"HELD: nothing of {len(others)} other processes can be opened"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
