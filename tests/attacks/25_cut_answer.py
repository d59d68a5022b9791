# attack: an answer cut short by the end of the process
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
#
# Half a frame and a clean exit status.
import os


def _frame(kind, payload, length=None):
    return (len(payload) if length is None else length).to_bytes(4, "little") + kind + payload


def attack():
    os.write(3, _frame(b"A", b'{"nonce":"x","status":"ok","return":"ESCAPED', length=4096))
    os._exit(0)
