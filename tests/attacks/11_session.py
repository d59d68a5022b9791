# attack: the session and terminal of whoever started the sandbox
# family: 11
# runs: call exec root
# stopped-by: session
#
# In a shared session, /dev/tty is the caller's terminal and Ctrl-C his. A session whose leader lies
# outside the pid namespace has the number 0.
import os


def attack():
    for pid in (0, 1):
        if os.getsid(pid) == 0 or os.getpgid(pid) == 0:
            return f"ESCAPED: {'process 1' if pid else 'this process'} belongs to a session or group outside"
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError as error:
        return f"HELD: a session of its own, no terminal: {error.strerror}"
    return "ESCAPED: /dev/tty is somebody's terminal"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
