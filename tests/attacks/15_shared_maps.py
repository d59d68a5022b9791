# attack: memory shared with the zygote and the other calls
# family: 15
# runs: call
# stopped-by: design
#
# A shared mapping made before the fork is the same memory in every child: one call would rewrite what
# the next one trusts.
def attack():
    with open("/proc/self/maps") as maps:
        shared = [line.split() for line in maps if line.split()[1].startswith("rw") and line.split()[1].endswith("s")]
    if shared:
        return "ESCAPED: shared and writable: " + ", ".join(fields[-1] for fields in shared)
    return "HELD: no shared memory"
