"""Programs that cells start."""

import importlib
import os
import site
import subprocess
import sys


def refresh_imports():
    """What was installed since then can be imported."""
    importlib.invalidate_caches()
    try:
        own = site.getusersitepackages()
    except Exception:
        return
    if site.ENABLE_USER_SITE and own not in sys.path and os.path.isdir(own):
        site.addsitedir(own)


def run(command, output=None, program=None):
    """(status, output if it was asked for). A program of its own reads the command as its script."""
    sys.stdout.flush()
    sys.stderr.flush()
    shell = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
    words, script = ([shell, "-c", command], None) if program is None else (program, command.encode())
    source_of = subprocess.DEVNULL if script is None else subprocess.PIPE
    with subprocess.Popen(words, stdin=source_of, stdout=output) as process:
        try:
            text, _ = process.communicate(script)
        except KeyboardInterrupt:
            process.kill()  # it was told, too, and had no wish to end
            raise
    refresh_imports()
    return process.returncode, text
