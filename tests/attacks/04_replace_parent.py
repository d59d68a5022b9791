# attack: a protected directory is renamed away and another put in its place
# family: 4
# runs: call
# stopped-by: readonly landlock uid
#
# A bind mount protects a file, not its parents: whoever may rename /etc decides what /etc/passwd is.
import os


def attack():
    for path in ("/etc", "/usr", "/usr/lib", "/opt", "/opt/belljar", "/home", "/tmp", "/home/user", "/dev/shm"):
        try:
            os.rename(path, path + ".old")
        except OSError:
            continue
        os.rename(path + ".old", path)
        return f"ESCAPED: {path} could be moved away"
    for path in ("/tmp", "/home/user"):
        try:
            os.rmdir(path)
        except OSError:
            continue
        return f"ESCAPED: {path} could be removed"
    return "HELD: nothing above a protected file can be moved"
