# attack: what /proc tells about the host
# family: 10
# runs: exec root
# stopped-by: proc
#
# The files that Docker hides: keys of all users, timers with kernel addresses, physical memory,
# interrupts (a side channel for keystrokes), and the kernel's settings. The host's file locks tell how many other
# sandboxes there are, and directories of /proc tell its devices and filesystems.
import os

_HIDDEN = ("keys", "key-users", "kcore", "kmsg", "timer_list", "sched_debug", "latency_stats", "modules", "config.gz",
           "kpagecount", "kpageflags", "interrupts", "slabinfo", "vmallocinfo", "cmdline", "locks", "buddyinfo",
           "zoneinfo", "schedstat", "pagetypeinfo")
_HIDDEN_DIRECTORIES = ("acpi", "asound", "bus", "fs", "irq", "scsi")


def attack():
    told = []
    for name in _HIDDEN:
        try:
            with open("/proc/" + name, "rb", buffering=0) as file:
                if file.read(64):
                    told.append(name)
        except OSError:
            pass
    for name in _HIDDEN_DIRECTORIES:
        try:
            told += [name + "/" + entry for entry in os.listdir("/proc/" + name)]
        except OSError:
            pass
    return "ESCAPED: /proc tells " + ", ".join(told) if told else "HELD: all of them are hidden or empty"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
