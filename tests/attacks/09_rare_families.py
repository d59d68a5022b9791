# attack: socket families that load a kernel module when first asked for
# family: 9
# runs: call exec root
# stopped-by: seccomp
# needs: rare_families
#
# TIPC, RDS, CAN, Bluetooth, AX.25, X.25: code that few read and every user can reach.
import errno
import socket

_FAMILIES = {"AX25": 3, "APPLETALK": 5, "X25": 9, "KEY": 15, "RDS": 21, "PPPOX": 24, "LLC": 26, "CAN": 29, "TIPC": 30,
             "BLUETOOTH": 31, "IEEE802154": 36, "NFC": 39, "KCM": 41, "QIPCRTR": 42, "SMC": 43, "XDP": 44, "MCTP": 45}


def attack():
    for name, family in _FAMILIES.items():
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            try:
                socket.socket(family, kind).close()
            except OSError as error:
                if error.errno in (errno.EPERM, errno.ENOSYS, errno.EACCES, errno.EAFNOSUPPORT):
                    continue
                return f"ESCAPED: AF_{name} got through: {error.strerror}"
            return f"ESCAPED: AF_{name} opened"
    return "HELD: none of the families answers"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
