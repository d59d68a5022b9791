# attack: programs that the host's kernel starts: core_pattern, modprobe, sysrq
# family: 10
# runs: exec root
# stopped-by: proc userns landlock
#
# core_pattern with a pipe is run by the kernel as root of the host when anything crashes: the escape
# from every privileged container. Opened, never written.
import os

_FILES = ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hotplug",
          "/proc/sys/fs/binfmt_misc/register", "/proc/sys/kernel/sysrq", "/proc/sysrq-trigger",
          "/proc/sys/vm/panic_on_oom", "/proc/sys/kernel/panic", "/proc/irq/default_smp_affinity")


def attack():
    for path in _FILES:
        try:
            fd = os.open(path, os.O_WRONLY)
        except OSError:
            continue
        masked = os.fstat(fd).st_rdev == os.makedev(1, 3)  # /dev/null lies over it
        os.close(fd)
        if not masked:
            return f"ESCAPED: {path} can be written"
    return "HELD: none can be written"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
