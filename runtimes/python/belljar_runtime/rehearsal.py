"""Calls of our own, run end to end with nothing sent: they take costs that a caller would otherwise wait for."""

from belljar_runtime.own_builtins import OWN as __builtins__

from belljar_runtime.call import Call

# Shaped like usual tools, so that a usual call finds the pages it writes to already its own.
_PLAIN = (b'{"nonce":"dry","source":"def add(a: int, b: int) -> int:\\n    \\"\\"\\"Adds.\\"\\"\\"\\n    return a + b\\n",'
          b'"filename":"belljar_dry_call.py","name":null,"args":{"a":1,"b":2},"env":{},"max_return_bytes":1000}')
_LETTA = (b'{"nonce":"dry","source":"def add(a: int, b: str):\\n    \\"\\"\\"Adds.\\"\\"\\"\\n    return {b: a}\\n",'
          b'"filename":"belljar_dry_call.py","name":"add","args":{"a":1,"b":"sum"},"env":{},"max_return_bytes":1000,'
          b'"letta":{"coerce":true,"properties":{"a":{"type":"integer"},"b":{"type":"string"}}}}')


def rehearse(surroundings):
    for payload in (_PLAIN, _LETTA):
        call = Call(payload, surroundings)
        call.answer()
        call.forget()
