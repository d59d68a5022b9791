# attack: a module of one's own, learned and preloaded for everybody (left)
# family: 15
# runs: call
# stopped-by: design
# pair: leave
# pair-name: learned_import
#
# Zygotes preload what tools import. A name that the tool made up must not be imported there, nor found
# by a later call.
import os
import sys


def attack():
    os.makedirs("/tmp/lib", exist_ok=True)
    with open("/tmp/lib/belljar_learned_residue.py", "w") as module:
        module.write("SECRET = 1\n")
    sys.path.insert(0, "/tmp/lib")
    __import__("belljar_learned_residue")
    for name in ("../../tmp/lib/x", "os; import pty", "x" * 100000, "\ud800", ""):
        sys.modules[name] = sys  # names that the engine is told, if it trusts the list
    return "HELD: imported, the next call looks"
