# attack: a program put before the real one on PATH (left)
# family: 12
# runs: call
# stopped-by: design
# pair: leave
# pair-name: path
#
# `git` from ~/.local/bin is what the next call would run, with its secrets.
import os


def attack():
    written = 0
    for place in ("/home/user/bin", "/home/user/.local/bin", "/tmp", *os.environ.get("PATH", "").split(":")):
        try:
            os.makedirs(place, exist_ok=True)
            with open(place + "/belljar-residue", "w") as program:
                program.write("#!/bin/sh\necho another call\n")
            os.chmod(place + "/belljar-residue", 0o755)
            written += 1
        except OSError:
            pass
    return "HELD: left for the next call" if written else "BROKEN: nothing could be written, not even at home"
