"""Makes a forked child differ from its siblings: random state that the zygote's imports left behind.

Only state a module shares is reached; a generator object that a preloaded library keeps for itself is not. The secret of
str hashes (PYTHONHASHSEED) is fixed when an interpreter starts and is the same in all children of one zygote: order of
sets of strings repeats, and nothing may take hash() for a secret.
"""

from belljar_runtime.own_builtins import OWN as __builtins__

import gc
import sys
from _signal import SIG_DFL, SIGCHLD, signal
from posix import urandom

_modules = sys.modules


def make_fresh():
    """To be called once in each child, before tool code."""
    # A zygote that lets the kernel reap its children ignores this signal; `subprocess` needs it not ignored.
    signal(SIGCHLD, SIG_DFL)
    for name, reseed in _RESEEDERS:
        module = _modules.get(name)
        if module is not None:
            reseed(module)
    gc.enable()


def _random(module):
    module.seed()


def _numpy_random(module):
    entropy = urandom(32)
    module.seed([int.from_bytes(entropy[i:i + 4], "little") for i in range(0, 32, 4)])


def _uuid(module):
    for name in ("_node", "_last_timestamp", "_last_timestamp_v6", "_last_timestamp_v7"):
        if hasattr(module, name):
            setattr(module, name, None)


def _ssl(module):
    module.RAND_add(urandom(32), 32.0)


def _tempfile(module):
    # It reseeds when its process id changes, but each sandbox has its own numbering and every child is number 1.
    module._name_sequence = None


def _multiprocessing(module):
    module.current_process().authkey = urandom(32)


_RESEEDERS = (
    ("random", _random),
    ("numpy.random", _numpy_random),
    ("uuid", _uuid),
    ("ssl", _ssl),
    ("tempfile", _tempfile),
    ("multiprocessing.process", _multiprocessing),
)
