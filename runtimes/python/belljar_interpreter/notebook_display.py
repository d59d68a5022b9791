"""What cells import from `IPython.display`, where there is no IPython: what is shown is the same, the package is not needed.

Found last, so that an IPython that is installed comes first (import_hooks.py then leads its display() here).
"""

import importlib.abc
import importlib.machinery
import sys
import types

from belljar_interpreter import rich

NAMES = ("IPython", "IPython.core", "IPython.core.display", "IPython.core.display_functions", "IPython.display")
PICTURES = {b"\x89PNG": "image/png", b"\xff\xd8": "image/jpeg", b"GIF8": "image/gif"}


class DisplayObject:
    mime = "text/plain"

    def __init__(self, data=None, url=None, filename=None, metadata=None, **_):
        if data is None and filename is not None:
            with open(filename, "rb") as file:
                data = file.read()
        self.data, self.url, self.metadata = data, url, metadata

    def __repr__(self):
        return f"<IPython.core.display.{type(self).__name__} object>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self.mime: self._content()}

    def _content(self):
        return self.data.decode() if isinstance(self.data, bytes) else self.data


class HTML(DisplayObject):
    mime = "text/html"


class Markdown(DisplayObject):
    mime = "text/markdown"


class Latex(DisplayObject):
    mime = "text/latex"


class Math(Latex):
    def _content(self):
        return "$\\displaystyle %s$" % super()._content().strip("$")


class SVG(DisplayObject):
    mime = "image/svg+xml"


class JSON(DisplayObject):
    mime = "application/json"


class Javascript(DisplayObject):
    mime = "application/javascript"


class Pretty(DisplayObject):
    def __repr__(self):
        return str(self._content())


class Image(DisplayObject):
    """Of bytes or a file; one that is elsewhere is a link to it."""

    def __init__(self, data=None, url=None, filename=None, **more):
        if isinstance(data, str) and filename is None:
            data, url, filename = (None, data, None) if "://" in data else (None, url, data)
        super().__init__(data, url, filename, **more)

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.data is None:
            return {"text/html": f'<img src="{self.url}"/>'}
        for beginning, mime in PICTURES.items():
            if self.data.startswith(beginning):
                return {mime: self.data}
        return {"image/svg+xml" if b"<svg" in self.data[:1024] else "image/png": self.data}


def clear_output(wait=False):
    """What was shown can't be taken back."""


EXPORTS = {"display": rich.display, "update_display": rich.update_display, "DisplayHandle": rich.DisplayHandle,
           "publish_display_data": rich.publish, "clear_output": clear_output,
           **{one.__name__: one for one in (DisplayObject, HTML, Markdown, Latex, Math, SVG, JSON, Javascript, Pretty, Image)}}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=name in NAMES[:2]) if name in NAMES else None

    def create_module(self, spec):
        return types.ModuleType(spec.name, __doc__)

    def exec_module(self, module):
        import builtins
        module.__dict__.update(EXPORTS)
        module.get_ipython = builtins.get_ipython


def install():
    sys.meta_path.append(_Finder())
