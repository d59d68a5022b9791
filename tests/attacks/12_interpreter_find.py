# attack: the interpreter changed from within for the next call (looked for)
# family: 12
# runs: call
# stopped-by: design
# pair: find
# pair-name: interpreter
#
# The next call from the same zygote.
import builtins
import json
import os
import sys


def attack():
    if hasattr(builtins, "belljar_residue") or json.dumps({}) != "{}":
        return "ESCAPED: the interpreter was changed by another call"
    if "/tmp/belljar-residue" in sys.path or "/tmp/belljar-residue" in os.environ.values():
        return "ESCAPED: paths of another call are in force"
    return "HELD: the interpreter is as it should be"
