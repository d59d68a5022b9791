# attack: memory of many small processes
# family: 24
# runs: call exec root
# stopped-by: memory
# limits: memory_bytes=67108864
# expect: killed-by memory
#
# RLIMIT_AS counts for one process; eight of 40 MB each pass under it. Only the cgroup adds them up.
import os
import signal
import time


def _all_alive(children):
    return all(os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None for pid in children)


def attack():
    reader, writer = os.pipe()
    children = []
    for _ in range(8):
        pid = os.fork()
        if pid == 0:
            try:
                held = bytearray(b"x" * (40 << 20))
                os.write(writer, b"r")
                time.sleep(10)
                del held
            finally:
                os._exit(0)
        children.append(pid)
    os.set_blocking(reader, False)
    ready, deadline = 0, time.monotonic() + 6
    while ready < 8 and time.monotonic() < deadline and _all_alive(children):
        time.sleep(0.02)
        try:
            ready += len(os.read(reader, 8))
        except BlockingIOError:
            pass
    alive = sum(os.waitpid(pid, os.WNOHANG) == (0, 0) for pid in children)
    for pid in children:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if ready == 8 and alive == 8:
        return "ESCAPED: 320 MB in a sandbox of 64"
    return f"HELD: {ready} of 8 got their memory, {alive} lived"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
