# attack: a user namespace made by what a zygote imports
# family: 7
# runs: zygote
# stopped-by: caps
#
# A zygote may clone and make namespaces. In a user namespace of its own, what it imports would have every capability,
# those for raw packets, other processes and resources too.
import ctypes
import errno
import os

_UNSHARE, _MOUNT_SETATTR = 272, 442
_NEW_USER, _READ_ONLY, _HERE = 0x10000000, 1, -100
_SETTING = "/proc/sys/user/max_user_namespaces"

_libc = ctypes.CDLL(None, use_errno=True)


def attack():
    change = (ctypes.c_uint64 * 4)(0, _READ_ONLY, 0, 0)  # what to set, to clear
    _libc.syscall(_MOUNT_SETATTR, _HERE, b"/proc", 0, change, ctypes.sizeof(change))
    try:
        with open(_SETTING, "w") as setting:
            setting.write("100")
    except OSError:
        pass
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        result = _libc.syscall(_UNSHARE, _NEW_USER)
        os.write(writer, str(0 if result == 0 else ctypes.get_errno()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    error = int(os.read(reader, 16))
    if error == 0:
        return "ESCAPED: in a user namespace of its own it has every capability"
    if error != errno.ENOSPC:
        return "BROKEN: unshare: " + os.strerror(error)
    return "HELD: there is room for no further user namespace"
