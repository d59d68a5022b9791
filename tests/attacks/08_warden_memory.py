# attack: the warden's memory, environment and descriptors through /proc/1
# family: 8
# runs: exec root
# stopped-by: caps landlock
#
# Root inside and the warden are the same user. What keeps them apart is that the warden is not
# dumpable and that nobody inside has CAP_SYS_PTRACE. Some kernels let anybody open some of these files: what counts is
# whether there is something in them.
import os


def attack():
    opened = []
    for name in ("mem", "environ", "maps", "auxv", "syscall", "stack", "io", "pagemap", "timers"):
        try:
            with open(f"/proc/1/{name}", "rb", buffering=0) as file:
                if name == "mem" or file.read(16):
                    opened.append(name)
        except OSError:
            pass
    for name in ("exe", "cwd", "root", "fd/3", "ns/mnt"):
        try:
            os.readlink(f"/proc/1/{name}")
            opened.append(name)
        except OSError:
            pass
    return "ESCAPED: of process 1 can be read: " + " ".join(opened) if opened else "HELD: process 1 is closed"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
