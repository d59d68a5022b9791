# attack: an answer nested two hundred thousand levels deep
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
#
# A recursive parser overflows its stack: the server dies, with everybody's calls.
import os


def _frame(kind, payload, length=None):
    return (len(payload) if length is None else length).to_bytes(4, "little") + kind + payload


def attack():
    deep = b"[" * 200000 + b"]" * 200000
    os.write(3, _frame(b"A", b'{"nonce":"x","status":"ok","return":' + deep + b',"imports":[]}'))
    os._exit(0)
