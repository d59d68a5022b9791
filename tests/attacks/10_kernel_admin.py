# attack: calls that run the machine: kexec, modules, reboot, swap, quota, accounting
# family: 10
# runs: call exec root
# stopped-by: seccomp
# needs: x86_64
#
# All with arguments that are wrong even for the host's root, so that nothing happens: only who refuses
# them is of interest. sysfs, quotactl and fanotify_init are answered by the kernel without privileges.
import ctypes
import errno
import os

_CALLS = {
    "kexec_load": (246, 0, 0, None, 0xFFFF), "kexec_file_load": (320, -1, -1, 0, None, 0xFFFF),
    "init_module": (175, None, 0, None), "finit_module": (313, -1, None, 0xFFFF), "delete_module": (176, None, 0),
    "reboot": (169, 0, 0, 0, None), "swapon": (167, None, 0), "swapoff": (168, None), "acct": (163, b"/no/such/file"),
    "quotactl": (179, -1, None, 0, None), "sethostname": (170, None, -1), "setdomainname": (171, None, -1),
    "sysfs": (139, 3), "ustat": (136, 0, None), "lookup_dcookie": (212, 0, None, 0), "fanotify_init": (300, 0x200, 0),
    "move_pages": (279, 0, -1, None, None, None, 0xFFFF), "migrate_pages": (256, 0, 0, None, None),
}

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _syscall(number, *arguments):
    """What the kernel answered: a result, or minus an error number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    return result if result >= 0 else -ctypes.get_errno()
_REFUSED = (-errno.EPERM, -errno.ENOSYS)  # what a filter answers; anything else is the kernel's own voice


def attack():
    for name, call in _CALLS.items():
        result = _syscall(*call)
        if result not in _REFUSED:
            return f"ESCAPED: {name} got through: " + (str(result) if result >= 0 else os.strerror(-result))
    return f"HELD: all {len(_CALLS)} are refused"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
