"""What the zygote knows about its interpreter's modules, gathered once so that a call need not look at the disk."""

from belljar_runtime.own_builtins import OWN as __builtins__

import sys
from posix import listdir

MOST_IMPORTS_REPORTED = 64
_modules = sys.modules


class Surroundings:
    def __init__(self):
        # `encodings` is loaded in every interpreter and lies in the standard library's own directory.
        standard_library = _modules["encodings"].__file__.rpartition("/encodings/")[0]
        added = [path for path in sys.path if path not in (standard_library, standard_library + "/lib-dynload")]
        self._directories = tuple(path + "/" for path in [standard_library] + added)
        names = getattr(sys, "stdlib_module_names", None)  # 3.10+
        self._standard = frozenset(_names_in(standard_library)) if names is None else names
        self._added = {name for path in added for name in _names_in(path)}

    def can_import(self, name):
        """Whether a module that calls itself `name` would hide one that somebody may import."""
        return name in _modules or name in self._standard or name in self._added

    def worth_preloading(self, loaded_before, own_module):
        """Names of the modules that a call has imported and that an environment could have had ready."""
        names = []
        for name in _newest_modules(len(_modules) - loaded_before):
            if type(name) is str and name != own_module and self._costs_time(name):
                names.append(name)
        names.reverse()  # an importer precedes what it imports: the first ones are those the tool asked for
        return sorted(names[:MOST_IMPORTS_REPORTED])

    def _costs_time(self, name):
        if name.startswith("_") or "." in name:
            return False
        path = getattr(_modules[name], "__file__", None)
        return type(path) is str and path.startswith(self._directories) and "/lib-dynload/" not in path


def _newest_modules(count):
    # From the end: walking over the zygote's own modules would copy their pages.
    newest = []
    for name in reversed(_modules):
        if len(newest) >= count:
            break
        newest.append(name)
    return newest


def _names_in(directory):
    try:
        entries = listdir(directory)
    except OSError:
        return
    for entry in entries:
        name, _, suffix = entry.partition(".")
        if name.isidentifier() and (not suffix or suffix == "py" or suffix.endswith("so")):
            yield name
