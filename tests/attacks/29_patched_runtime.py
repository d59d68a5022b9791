# attack: the runtime's tools replaced before it writes the answer
# family: 29
# runs: call
# stopped-by: result
#
# json, os.write, builtins and the standard streams are the tool's to change. Its answer is its own
# anyway; it must still be one answer, well formed.
import builtins
import json
import os
import sys


def attack():
    forged = lambda *_, **__: b"ESCAPED: the runtime uses what a tool can replace"
    json.dumps = json.JSONEncoder.encode = forged
    os.write = os.getpid = forged
    builtins.len = builtins.bytes = builtins.isinstance = builtins.str = forged
    sys.stdout = sys.stderr = None
    sys.modules["json"] = sys.modules["posix"] = None
    sys.settrace(lambda *_: None)
    return "HELD: the answer arrived"
