# attack: an answer that claims to have four gigabytes
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
#
# A reader that believes the length allocates it.
import os


def _frame(kind, payload, length=None):
    return (len(payload) if length is None else length).to_bytes(4, "little") + kind + payload


def attack():
    os.write(3, _frame(b"A", b'{"status":"ok"}', length=0xFFFFFFFF))
    os._exit(0)
