# attack: connections that stay behind in a reused network namespace (looked for)
# family: 14
# runs: call
# stopped-by: netns
# pair: find
# pair-name: port
#
# The next call.
_PORT = 40404


def attack():
    entries = 0
    for name in ("tcp", "tcp6", "udp", "udp6"):
        try:
            with open("/proc/self/net/" + name) as table:
                for line in list(table)[1:]:
                    entries += 1
                    if f":{_PORT:04X} " in line:
                        return "ESCAPED: a connection of another call is in the table"
        except OSError:
            continue
    return f"ESCAPED: {entries} connections, and none is mine" if entries else "HELD: the tables are empty"
