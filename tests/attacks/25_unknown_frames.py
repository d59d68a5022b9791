# attack: frames of every type that nobody knows
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
#
# A thousand of them, some empty: none is an answer.
import os


def _frame(kind, payload, length=None):
    return (len(payload) if length is None else length).to_bytes(4, "little") + kind + payload


def attack():
    for kind in range(256):
        if kind not in b"A":
            os.write(3, _frame(bytes([kind]), b"") + _frame(bytes([kind]), b'{"status":"ok","return":1}'))
    os._exit(0)
