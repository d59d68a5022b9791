# attack: an answer that stops in the middle and never ends
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
# limits: wall_ms=1000
#
# The engine must not wait longer than the call may take.
import os


def _frame(kind, payload, length=None):
    return (len(payload) if length is None else length).to_bytes(4, "little") + kind + payload


def attack():
    import time
    os.write(3, _frame(b"A", b'{"status":"ok","ret', length=1000))
    time.sleep(30)
