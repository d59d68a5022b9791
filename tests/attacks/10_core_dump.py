# attack: core dumps, which the host's kernel writes where the host says
# family: 10
# runs: call exec root
# stopped-by: rlimits
#
# A dump goes to core_pattern, on the host often a pipe into a program that runs as root (apport,
# systemd-coredump CVE-2025-4598). For a pipe a limit of 0 means nothing; 1 is the one value at which the kernel starts
# no program (core(5)), so it must be 1, hard, and not to be lowered.
import resource


def _piped():
    try:
        with open("/proc/sys/kernel/core_pattern") as text:
            return text.read(1) in ("|", "@")
    except OSError:
        return False


def attack():
    for value in (resource.RLIM_INFINITY, 0):
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (value, value))
        except (ValueError, OSError):
            pass
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if hard not in (0, 1) or soft != hard:
        return f"ESCAPED: dumps of {hard} bytes"
    if soft == 0 and _piped():
        return "ESCAPED: the host's program for dumps is started all the same"
    return f"HELD: the limit is {hard} and stays"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
