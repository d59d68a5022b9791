# attack: core dumps, which the host's kernel writes where the host says
# family: 10
# runs: call exec root
# stopped-by: rlimits
#
# A dump goes to core_pattern, on the host often a pipe into a program that runs as root (apport,
# systemd-coredump CVE-2025-4598). The limit must be 0 and hard.
import resource


def attack():
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (ValueError, OSError):
        soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
        return "HELD: the limit is 0 and stays" if hard == 0 else f"ESCAPED: dumps of {hard} bytes"
    return "ESCAPED: dumps have no limit"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
