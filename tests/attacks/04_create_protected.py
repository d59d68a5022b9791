# attack: configuration that does not exist yet is created
# family: 4
# runs: call
# stopped-by: readonly landlock uid
#
# Claude Code CVE-2026-25725: a protected file that was missing could be made, since only existing ones
# were bound read-only. Everything made here would be obeyed by a later program.
import errno
import os
import sysconfig

_WANTED = [
    "/etc/ld.so.preload", "/etc/profile.d/zz.sh", "/etc/sudoers.d/zz", "/etc/cron.d/zz", "/root/.bashrc",
    "/usr/local/bin/python3", "/opt/belljar/zz", "/belljar-attack", "/run/zz", "/dev/zz", "/var/tmp/zz",
    sysconfig.get_path("stdlib") + "/sitecustomize.py", "/usr/lib/python3/dist-packages/zz.pth",
]
_REFUSALS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT)


def attack():
    for path in _WANTED:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        except FileExistsError:
            continue
        except OSError as error:
            if error.errno not in _REFUSALS:
                return f"BROKEN: {path}: {error}"
        else:
            os.unlink(path)
            return f"ESCAPED: made {path}"
    return "HELD: nothing could be made"
