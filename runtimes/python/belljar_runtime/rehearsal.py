"""A call of our own, run end to end with nothing sent: it takes costs that a caller would otherwise wait for."""

from belljar_runtime.own_builtins import OWN as __builtins__

from belljar_runtime.call import Call

# Shaped like a usual tool, so that a usual call finds the pages it writes to already its own.
_CALL = (b'{"nonce":"dry","source":"def add(a: int, b: int) -> int:\\n    \\"\\"\\"Adds.\\"\\"\\"\\n    return a + b\\n",'
         b'"filename":"belljar_dry_call.py","name":null,"args":{"a":1,"b":2},"env":{},"max_return_bytes":1000}')


def rehearse(surroundings):
    call = Call(_CALL, surroundings)
    call.answer()
    call.forget()
