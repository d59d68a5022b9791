# attack: the interpreter changed from within for the next call (left)
# family: 12
# runs: call
# stopped-by: design
# pair: leave
# pair-name: interpreter
#
# Calls share a zygote's memory until they write to it. Whatever is patched here must stay here.
import builtins
import json
import os
import sys


def attack():
    builtins.belljar_residue = True
    json.dumps = lambda *_, **__: "patched"
    sys.path.insert(0, "/tmp/belljar-residue")
    os.environ["PYTHONSTARTUP"] = os.environ["LD_PRELOAD"] = os.environ["PYTHONPATH"] = "/tmp/belljar-residue"
    sys.setswitchinterval(1)
    return "HELD: patched in this process only"
