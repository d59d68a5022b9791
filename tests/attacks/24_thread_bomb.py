# attack: a thread bomb
# family: 24
# runs: call exec root
# stopped-by: pids rlimits
# limits: processes=64
# expect: killed-by pids
#
# Threads are processes to the scheduler and to the limit, but to few monitors.
import threading

_ENOUGH = 600


def attack():
    end = threading.Event()
    started = 0
    threading.stack_size(64 * 1024)
    try:
        for _ in range(_ENOUGH):
            threading.Thread(target=end.wait, daemon=True).start()
            started += 1
    except (RuntimeError, MemoryError) as error:
        return f"HELD: after {started} threads: {error}"
    finally:
        end.set()
    return f"ESCAPED: {_ENOUGH} threads at once"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
