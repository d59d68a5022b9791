"""Official clients, from their registries, at the versions pinned here. Installed once a build directory, by whoever comes
first; a test that can't get one is skipped with the reason."""

import fcntl
import glob
import os
import subprocess
import sys
import unittest

FOLDER = os.environ.get("BELLJAR_SDKS", os.path.join(os.path.dirname(__file__), "../../build/sdks"))
PYTHON = {"letta-client": "1.12.1", "e2b": "2.63.0", "e2b-code-interpreter": "2.11.5"}
NODE = {"@letta-ai/letta-client": "1.12.1", "e2b": "2.51.0", "@e2b/code-interpreter": "2.8.0",
        "@e2b/cli": "2.19.0"}


def _installed(kind, name, version, *commands):
    """The folder that holds the package, or why there is none."""
    folder = os.path.abspath(os.path.join(FOLDER, f"{kind}-{name.replace('/', '-')}-{version}"))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = os.path.join(folder, ".done")
        if not os.path.exists(done):
            for command in commands:
                outcome = subprocess.run(command, cwd=folder, capture_output=True, text=True)
                if outcome.returncode != 0:
                    return None, f"{name} {version} could not be installed: {outcome.stderr.strip()[-300:]}"
            open(done, "w").close()
    return folder, ""


def _python(name):
    version = PYTHON[name]
    folder, why = _installed("python", name, version, [sys.executable, "-m", "venv", "venv"],
                             ["venv/bin/pip", "install", "--quiet", f"{name}=={version}"])
    return folder and glob.glob(folder + "/venv/lib/python3*/site-packages")[0], why


def _node(name):
    version = NODE[name]
    return _installed("node", name, version,
                      ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", ".", f"{name}@{version}"])


def python_sdk(name):
    return _python(name)[0]


def node_sdk(name):
    return _node(name)[0]


def skip_without(name):
    """A Python package, or, if there is none of that name here, one of Node's."""
    folder, why = _python(name) if name in PYTHON else _node(name)
    return unittest.skipIf(folder is None, why)


def skip_without_node(name):
    folder, why = _node(name)
    return unittest.skipIf(folder is None, why)
