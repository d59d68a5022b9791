# attack: an answer with another call's nonce
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
#
# Well formed, and for somebody else.
import os


def _frame(kind, payload, length=None):
    return (len(payload) if length is None else length).to_bytes(4, "little") + kind + payload


def attack():
    os.write(3, _frame(b"A", b'{"nonce":"00000000","status":"ok","return":"ESCAPED: forged","imports":[]}'))
    os._exit(0)
