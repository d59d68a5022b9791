# attack: a root that can be written
# family: 4
# runs: call
# stopped-by: readonly
#
# Calls share their template. File modes and Landlock still stand when the mounts are writable, so the
# kernel is asked what it thinks of the mount itself: a read-only one says so before anything else.
import errno
import os


def attack():
    for path in ("/", "/usr", "/etc", "/opt"):
        if not os.statvfs(path).f_flag & os.ST_RDONLY:
            return f"ESCAPED: {path} is mounted for writing"
        try:
            os.mkdir(path + "/belljar-attack")
        except OSError as error:
            if error.errno != errno.EROFS:
                return f"ESCAPED: only this keeps {path} from being changed: {error.strerror}"
        else:
            os.rmdir(path + "/belljar-attack")
            return f"ESCAPED: made a directory in {path}"
    return "HELD: everything but the call's own files is read-only"
