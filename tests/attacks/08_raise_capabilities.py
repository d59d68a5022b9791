# attack: capabilities back by capset, ambient set and securebits
# family: 8
# runs: call exec root
# stopped-by: caps
# needs: x86_64
#
# Ambient capabilities survive execve; keepcaps survives setuid. None may bring back what was dropped.
import ctypes
import struct

_libc = ctypes.CDLL(None, use_errno=True)
_CAPSET, _VERSION_3 = 126, 0x20080522
_SYS_ADMIN, _SYS_PTRACE, _NET_RAW = 21, 19, 13
_AMBIENT, _RAISE, _SET_SECUREBITS = 47, 2, 28


def attack():
    header = struct.pack("<Ii", _VERSION_3, 0)
    for capability in (_SYS_ADMIN, _SYS_PTRACE, _NET_RAW):
        bit = 1 << capability
        wanted = struct.pack("<6I", bit, bit, bit, 0, 0, 0)
        if _libc.syscall(_CAPSET, header, wanted) == 0:
            return f"ESCAPED: capset gave capability {capability}"
        if _libc.prctl(_AMBIENT, _RAISE, capability, 0, 0) == 0:
            return f"ESCAPED: capability {capability} is ambient"
    return "HELD: what was dropped stays dropped"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
