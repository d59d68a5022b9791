# attack: counters that tell what an earlier call did with its network (looked for)
# family: 14
# runs: call
# stopped-by: netns
# pair: find
# pair-name: counters
#
# The next call: in a fresh namespace nothing was ever sent, asked for or refused.
_SETTINGS = {"Forwarding", "DefaultTTL", "RtoAlgorithm", "RtoMin", "RtoMax", "MaxConn"}


def _counters():
    for name in ("snmp", "netstat"):
        try:
            with open("/proc/self/net/" + name) as table:
                lines = [line.split() for line in table]
        except OSError:
            continue
        for names, values in zip(lines[::2], lines[1::2]):
            yield from ((names[0] + key, int(value)) for key, value in zip(names[1:], values[1:]) if key not in _SETTINGS)


def attack():
    found = [f"{name} {value}" for name, value in _counters() if value != 0]
    return "ESCAPED: an earlier call left " + ", ".join(found[:5]) if found else "HELD: all counters are zero"
