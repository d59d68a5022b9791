# attack: an answer that is not UTF-8
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
#
# Overlong slashes, half characters and lone surrogates get past checks that look at bytes.
import os


def _frame(kind, payload, length=None):
    return (len(payload) if length is None else length).to_bytes(4, "little") + kind + payload


def attack():
    os.write(3, _frame(b"A", b'{"nonce":"x","status":"ok","return":"\xc0\xaf\xff\xed\xa0\x80","imports":[]}'))
    os._exit(0)
