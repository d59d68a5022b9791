# attack: code that Python runs when it starts (left)
# family: 12
# runs: call
# stopped-by: design
# pair: leave
# pair-name: site
#
# sitecustomize, usercustomize and .pth files are run by every later interpreter that finds them.
import os
import site
import sys

_CODE = "import builtins; builtins.belljar_residue = True\n"


def attack():
    written = 0
    places = [site.getusersitepackages(), "/tmp", "/home/user", *sys.path]
    for place in places:
        for name in ("sitecustomize.py", "usercustomize.py", "belljar_residue.pth"):
            try:
                os.makedirs(place, exist_ok=True)
                with open(f"{place}/{name}", "w") as file:
                    file.write(_CODE)
                written += 1
            except OSError:
                pass
    return "HELD: left for the next call" if written else "BROKEN: nothing could be written, not even at home"
