# attack: the machine through /sys
# family: 10
# runs: call exec root
# stopped-by: design
#
# Devices, firmware, cgroups, and /sys/kernel/uevent_helper, which the host runs as root. There is no
# /sys inside.
import os


def attack():
    try:
        names = os.listdir("/sys")
    except OSError as error:
        return f"HELD: {error.strerror}"
    return "ESCAPED: /sys has " + " ".join(names) if names else "HELD: /sys is empty"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
