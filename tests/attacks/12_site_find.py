# attack: code that Python runs when it starts (looked for)
# family: 12
# runs: call
# stopped-by: design
# pair: find
# pair-name: site
#
# The next call: neither the files nor their work.
import builtins
import os
import site
import sys


def attack():
    if hasattr(builtins, "belljar_residue"):
        return "ESCAPED: code of another call has run in this interpreter"
    for place in [site.getusersitepackages(), "/tmp", "/home/user", *sys.path]:
        for name in ("sitecustomize.py", "usercustomize.py", "belljar_residue.pth"):
            path = f"{place}/{name}"
            if os.path.exists(path) and "belljar_residue" in open(path).read():
                return f"ESCAPED: {path} of another call is there"
    return "HELD: nothing is left"
