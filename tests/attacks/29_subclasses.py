# attack: out of every in-process guard by __subclasses__
# family: 29
# runs: call exec root
# stopped-by: seccomp
#
# The classic: from an empty tuple to os.system. Guards inside Python do not hold, so the seal must: the
# program started this way has it on like everybody else.
def attack():
    system = next(kind.__init__.__globals__["popen"] for kind in ().__class__.__base__.__subclasses__()
                  if kind.__name__ == "_wrap_close")
    with system("cat /proc/self/status") as output:
        status = dict(line.split(":", 1) for line in output.read().splitlines() if ":" in line)
    if status.get("Seccomp", "").strip() != "2":
        return "ESCAPED: a program without a filter was started"
    return "HELD: os.popen found, and the program it started is sealed"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
