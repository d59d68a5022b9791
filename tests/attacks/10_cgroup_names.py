# attack: the host's cgroup names
# family: 10
# runs: call exec root
# stopped-by: cgroupns
#
# They tell the sandbox's id, its siblings' scheme and the service that runs it: with a cgroup namespace
# every path is /.
def attack():
    with open("/proc/self/cgroup") as text:
        paths = [line.rstrip("\n").split(":", 2)[2] for line in text]
    if not paths:
        return "BROKEN: /proc/self/cgroup is empty"
    told = [path for path in paths if path != "/"]
    return f"ESCAPED: {told[0]}" if told else "HELD: every path is /"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
