# attack: capabilities that nobody should have
# family: 8
# runs: call exec root
# stopped-by: caps
#
# Docker's default set less NET_RAW, MKNOD and AUDIT_WRITE is the most that root inside may have; a
# call has none, not even as a bound for later.
import os

# CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID SETPCAP NET_BIND_SERVICE SYS_CHROOT SETFCAP
_MOST = {0, 1, 3, 4, 5, 6, 7, 8, 10, 18, 31}


def attack():
    in_a_call = __name__ != "__main__"
    allowed = set() if in_a_call else _MOST
    with open("/proc/self/status") as text:
        sets = {line[:6]: int(line.split()[1], 16) for line in text if line.startswith("Cap")}
    if len(sets) != 5:
        return "BROKEN: /proc/self/status has no capability sets"
    for name, bits in sets.items():
        held = {number for number in range(64) if bits >> number & 1}
        if name != "CapBnd" and os.getuid() != 0 and held:
            return f"ESCAPED: {name} of an ordinary user holds {sorted(held)}"
        if held - allowed:
            return f"ESCAPED: {name} holds {sorted(held - allowed)}"
    return "HELD: no capability beyond the allowed set"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
