# attack: a cgroup's release_agent, which the host runs as root
# family: 10
# runs: call exec root
# stopped-by: design
#
# CVE-2022-0492: whoever can write one file of a cgroup v1 hierarchy names a program that the host
# starts as root. No cgroup filesystem may be in sight.
import glob
import os


def attack():
    with open("/proc/self/mountinfo") as table:
        mounts = [line.split() for line in table]
    seen = [fields[4] for fields in mounts if "cgroup" in fields[fields.index("-") + 1]]
    seen += glob.glob("/sys/fs/cgroup/*")
    for place in seen:
        for name in ("release_agent", "cgroup.procs", "tasks", "notify_on_release", "memory.max"):
            if os.access(f"{place}/{name}", os.W_OK):
                return f"ESCAPED: {place}/{name} can be written"
    return f"ESCAPED: cgroups can be seen at {seen[0]}" if seen else "HELD: there is no cgroup filesystem"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
