# attack: another root through /proc/PID/root and /proc/PID/cwd
# family: 3
# runs: call exec root
# stopped-by: pidns userns caps landlock
#
# The first thing anybody tries in a container. Every root that can be seen must be the own one.
import os


def attack():
    own = os.stat("/")
    seen = []
    for pid in ["self", "thread-self"] + [name for name in os.listdir("/proc") if name.isdigit()]:
        for link in ("root", "cwd/" + "../" * 64):
            try:
                other = os.stat(f"/proc/{pid}/{link}")
            except OSError:
                continue
            seen.append(pid)
            if (other.st_dev, other.st_ino) != (own.st_dev, own.st_ino):
                return f"ESCAPED: /proc/{pid}/{link[:4]} leads to another root"
    if not seen:
        return "BROKEN: not even /proc/self/root could be followed"
    return "HELD: every root that can be seen is the own one"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
