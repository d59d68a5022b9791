# attack: NaN and Infinity, which JSON does not have
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
#
# Python writes them, other parsers refuse them or read something else.
import os


def _frame(kind, payload, length=None):
    return (len(payload) if length is None else length).to_bytes(4, "little") + kind + payload


def attack():
    os.write(3, _frame(b"A", b'{"nonce":"x","status":"ok","return":[NaN,Infinity,-Infinity,1e999],"imports":[]}'))
    os._exit(0)
