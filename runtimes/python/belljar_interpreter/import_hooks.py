"""What is done once a module of others has been imported, whoever imports it and when."""

import sys


def _use_inline_figures(matplotlib):
    import os
    if os.environ.get("MPLBACKEND", "").lower() in ("", "agg"):  # agg: what a template without a display says
        matplotlib.use("module://belljar_interpreter.inline_backend")


def _show_ours(functions):
    """IPython's display() without IPython's shell would only print."""
    from belljar_interpreter import rich
    functions.display = rich.display
    functions.publish_display_data = rich.publish
    functions.clear_output = lambda wait=False: None


AFTER = {"matplotlib": _use_inline_figures, "IPython.core.display_functions": _show_ours}


class _Loader:
    """Runs the module's own loader, then what is to be done, and leaves no trace of itself."""

    def __init__(self, loader, after):
        self._loader, self._after = loader, after

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        try:
            self._after(module)
        except Exception:
            pass  # a version that we don't know works as it comes


class _Finder:
    def find_spec(self, name, path, target=None):
        after = AFTER.get(name)
        if after is None:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if finder is not self and find else None
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, after)
                return spec
        return None


def install():
    sys.meta_path.insert(0, _Finder())
