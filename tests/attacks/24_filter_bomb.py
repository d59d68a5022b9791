# attack: filters for the kernel to compile, without end
# family: 24
# runs: call exec root
# stopped-by: seccomp
#
# Compiled filters lie in a room that the machine has once (net.core.bpf_jit_limit). Some thousand sockets with a filter
# of 4096 instructions fill it, and then nobody can load a seccomp filter: no other sandbox can be sealed.
import ctypes
import errno
import os
import socket
import struct

_SO_ATTACH_FILTER, _SO_ATTACH_REUSEPORT_CBPF = 26, 51
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_libc = ctypes.CDLL(None, use_errno=True)
_PASS = struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000)  # return "allow"


def attack():
    code = ctypes.create_string_buffer(_PASS, len(_PASS))
    program = struct.pack("HxxxxxxP", 1, ctypes.addressof(code))
    for option in (_SO_ATTACH_FILTER, _SO_ATTACH_REUSEPORT_CBPF):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            try:
                one.setsockopt(socket.SOL_SOCKET, option, program)
            except OSError as error:
                if error.errno != errno.EPERM:
                    return "BROKEN: " + os.strerror(error.errno)
                continue
            return "ESCAPED: the kernel compiled a socket's filter"
    if _libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, program, 0, 0) == 0:
        return "ESCAPED: the kernel compiled a process's filter"
    return "HELD: no filters of one's own"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
