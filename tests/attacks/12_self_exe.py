# attack: the runtime overwritten through /proc/PID/exe
# family: 12
# runs: call exec root
# stopped-by: readonly caps landlock
#
# runc CVE-2019-5736: the program that runs the sandbox, reached by its magic link and rewritten for the
# next one. ETXTBSY is no protection: it ends when the program does.
import errno
import os


def attack():
    in_a_call = __name__ != "__main__"
    path = "/proc/self/exe" if in_a_call else "/proc/1/exe"  # the shared interpreter; the warden
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            return f"HELD: {path}: {error.strerror}"
        return f"ESCAPED: {path} could be opened, but for: {error.strerror}"
    return f"ESCAPED: {path} can be written"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
