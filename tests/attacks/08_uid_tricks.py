# attack: another user by the set*id calls
# family: 8
# runs: call exec
# stopped-by: caps uid
#
# Every way to name a user: root, the overflow user, minus one, and the filesystem id that many forget.
import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)


def attack():
    before = os.getresuid(), os.getresgid()
    for identity in (0, 1, 65534, 65535, 0x7FFFFFFF, 0xFFFFFFFE):
        for change in (os.setuid, os.setgid, os.seteuid, os.setegid):
            try:
                change(identity)
            except OSError:
                continue
            if (os.getresuid(), os.getresgid()) != before:
                return f"ESCAPED: {change.__name__}({identity}) worked"
    for call in (_libc.setfsuid, _libc.setfsgid):
        call(0)
        if call(-1) == 0 and os.getuid() != 0:
            return "ESCAPED: the filesystem id is root's"
    try:
        os.setgroups([0])
        return "ESCAPED: joined the group of root"
    except OSError:
        return "HELD: nobody else can be had"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
