# attack: the host's name, wherever it may be written
# family: 10
# runs: call exec root
# stopped-by: hostname
#
# A name tells the customer, the data centre, the role. It hides in more places than uname().
import os
import socket

_OURS = ("belljar", "sandbox")


def attack():
    told = {"uname": os.uname().nodename, "environment": os.environ.get("HOSTNAME", "belljar")}
    for path in ("/proc/sys/kernel/hostname", "/etc/hostname"):
        try:
            with open(path) as text:
                told[path] = text.read().strip() or "belljar"
        except OSError:
            pass
    for place, name in told.items():
        if not name.startswith(_OURS) and name != "localhost":
            return f"ESCAPED: {place} says {name}"
    return "HELD: nothing tells the host's name"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
