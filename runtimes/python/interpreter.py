"""The interpreter zygote of one sandbox: imports done once, then one process for each context.

Started by the warden as the sandbox's user: `python3 interpreter.py 3`, 3 being the engine's control socket. The cells of
the user run in forked processes only, never here.
"""

import sys


def start(control_fd):
    own_directory = __file__.rpartition("/")[0] or "."
    sys.path[0] = own_directory
    from belljar_interpreter import zygote
    # Everything of ours is loaded: a cell finds its own files first, as in any notebook, and never ours.
    sys.path[0] = ""
    zygote.serve(control_fd)


if __name__ == "__main__":
    start(int(sys.argv.pop()))  # a cell that reads its command line finds none
