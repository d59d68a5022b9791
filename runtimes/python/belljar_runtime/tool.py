"""A tool's source becomes a module, and one of its functions the thing to call."""

from belljar_runtime.own_builtins import OWN as __builtins__

import builtins
import sys
from _frozen_importlib import ModuleSpec

from belljar_runtime.verdicts import Failed, Invalid

CO_OPTIMIZED = 0x1  # set on function bodies, not on class bodies
_Module = type(sys)
_modules = sys.modules


class SourceError(Failed):
    """The source does not compile."""

    def __init__(self, filename, line, reason, shown):
        Failed.__init__(self, "SyntaxError", "%s, line %d: %s" % (filename, line, reason),
                        shown + "SyntaxError: " + reason + "\n")
        self.line = line
        self.reason = reason


class Tool:
    """The module of one source text. Made but not yet executed: `run` does that."""

    def __init__(self, source, filename, surroundings, module_name=None, flags=0):
        self.source = source
        self.filename = filename
        self.code = _compile(source, filename, flags)
        self.module_name = module_name or _module_name(filename, surroundings)
        self._replaced = _modules.get(self.module_name)
        module = _Module(self.module_name)
        self.namespace = module.__dict__
        # Without this, exec would hand our private builtins to the tool.
        self.namespace["__builtins__"] = builtins
        module.__file__ = filename
        module.__loader__ = _SourceLoader(source)
        module.__spec__ = ModuleSpec(self.module_name, module.__loader__, origin=filename)
        # dataclasses, pydantic and typing look their class's module up by name.
        _modules[self.module_name] = module

    def run(self):
        exec(self.code, self.namespace)

    def function(self, name):
        """The function called `name`, or the last public one if that is None."""
        if name is None:
            names = self._function_names()
            if not names:
                raise Invalid("NoFunction", self.filename + " has no public function: define one at its top level,"
                              " such as `def run(city: str): ...`, with a name that does not start with an underscore.")
            name = names[-1]
        value = self.namespace.get(name)
        if not _is_function(value):
            raise Invalid("UnknownFunction", self._unknown(name))
        return value

    def forget(self):
        if self._replaced is None:
            _modules.pop(self.module_name, None)
        else:
            _modules[self.module_name] = self._replaced

    def _function_names(self):
        return [name for name in _defined_functions(self.code)
                if not name.startswith("_") and _is_function(self.namespace.get(name))]

    def _unknown(self, name):
        names = list(dict.fromkeys(self._function_names()))
        if not names:
            return "%s has no function %r, nor any other public one: define it at the top level." % (self.filename, name)
        return "%s has no function %r; it has %s." % (self.filename, name, ", ".join(names))


class _SourceLoader:
    """Gives linecache and inspect the source when they ask; until then nothing is cached."""

    def __init__(self, source):
        self._source = source

    def get_source(self, module_name):
        return self._source


def _compile(source, filename, flags=0):
    try:
        return compile(source.lstrip("\ufeff"), filename, "exec", flags, True)
    except SyntaxError as error:
        line, reason = error.lineno or 1, error.msg
        if "\0" in source:
            line = _line_of(source, source.index("\0"))
        shown = _pointed_at(filename, line, error)
    except UnicodeEncodeError as error:
        line, reason = _line_of(source, error.start), "the source has a lone surrogate, which is not text"
        shown = _pointed_at(filename, line, None)
    except ValueError as error:
        line, reason = _line_of(source, max(source.find("\0"), 0)), str(error)
        shown = _pointed_at(filename, line, None)
    except (RecursionError, MemoryError, OverflowError):
        line, reason = 1, "the source is nested too deeply to compile"
        shown = _pointed_at(filename, line, None)
    raise SourceError(filename, line, reason, shown)


def _line_of(source, index):
    return source.count("\n", 0, index) + 1


def _pointed_at(filename, line, error):
    shown = '  File "%s", line %d\n' % (filename, line)
    text = error is not None and error.text
    if text and len(text) < 1000:
        shown += "    " + text.strip() + "\n"
        indent = len(text) - len(text.lstrip())
        if error.offset and error.offset > indent:
            shown += " " * (4 + error.offset - 1 - indent) + "^\n"
    return shown


def _module_name(filename, surroundings):
    name = filename.rpartition("/")[2]
    name = (name[:-3] if name.endswith(".py") else name).replace(".", "_") or "tool"
    while surroundings.can_import(name):
        name = "tool_" + name
    return name


def _is_function(value):
    return callable(value) and not isinstance(value, type)


def _defined_functions(code):
    """Names of the functions that this code defines at its own level, in the order of the source."""
    found = _function_bodies(code)
    found.sort(key=lambda body: body.co_firstlineno)
    return [body.co_name for body in found]


def _function_bodies(code):
    bodies = []
    for constant in code.co_consts:
        if type(constant) is not type(code):
            continue
        if constant.co_name.startswith("<generic parameters of "):  # def first[T](items: list[T])
            bodies += _function_bodies(constant)
        elif constant.co_flags & CO_OPTIMIZED and not constant.co_name.startswith("<"):
            bodies.append(constant)
    return bodies
