# attack: processes of the host or of other calls
# family: 8
# runs: call exec root
# stopped-by: pidns
#
# getpgid asks no permission: it tells which process numbers are taken. Only the own family may answer.
import os


def _own():
    """Itself, its threads, and those it came from, up to process 1."""
    pids = {1} | {int(name) for name in os.listdir("/proc/self/task")}
    pid = os.getppid()
    while pid > 1:
        pids.add(pid)
        with open(f"/proc/{pid}/stat") as text:
            pid = int(text.read().rpartition(")")[2].split()[1])
    return pids


def attack():
    own, others = _own(), []
    for pid in range(1, 40000):
        try:
            os.getpgid(pid)
        except OSError:
            continue
        if pid not in own:
            others.append(pid)
    in_a_call = __name__ != "__main__"
    if in_a_call and os.getpid() != 1:
        return f"ESCAPED: a call is process {os.getpid()} of a namespace with {len(others) + 1} more"
    if len(others) > 2:  # a helper of the sandbox's own may be there
        return f"ESCAPED: {len(others)} other processes can be seen"
    return f"HELD: {len(others)} other processes can be seen"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
