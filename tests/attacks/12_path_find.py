# attack: a program put before the real one on PATH (looked for)
# family: 12
# runs: call
# stopped-by: design
# pair: find
# pair-name: path
#
# The next call.
import os
import shutil


def attack():
    folders = ["/home/user/bin", "/home/user/.local/bin", "/tmp", os.environ.get("PATH", "")]
    found = shutil.which("belljar-residue", path=":".join(folders))
    return f"ESCAPED: {found} of another call is there" if found else "HELD: nothing is left"
