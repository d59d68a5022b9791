# attack: privileges by a setuid program
# family: 8
# runs: call exec root
# stopped-by: nnp
#
# su, mount and pkexec lie in every image (PwnKit, CVE-2021-4034). no_new_privs makes the setuid bit
# and file capabilities mean nothing, for ever and for all descendants.
import ctypes
import os
import stat

_libc = ctypes.CDLL(None, use_errno=True)
_GET_NO_NEW_PRIVS = 39


def _setuid_programs():
    for folder in ("/usr/bin", "/usr/sbin"):
        for entry in os.scandir(folder):
            if entry.is_file(follow_symlinks=False) and entry.stat().st_mode & stat.S_ISUID:
                yield entry.name


def attack():
    if _libc.prctl(_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1:
        return "HELD: no_new_privs is set"
    return "ESCAPED: setuid bits count, and there are: " + " ".join(_setuid_programs())


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
