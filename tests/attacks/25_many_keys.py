# attack: an answer with half a million keys, all the same
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
#
# Duplicates and size: what wins, and what it costs.
import os


def _frame(kind, payload, length=None):
    return (len(payload) if length is None else length).to_bytes(4, "little") + kind + payload


def attack():
    body = b'{"status":"error",' + b'"status":"ok",' * 500000 + b'"return":1}'
    data = memoryview(_frame(b"A", body))
    while data:
        data = data[os.write(3, data):]
    os._exit(0)
