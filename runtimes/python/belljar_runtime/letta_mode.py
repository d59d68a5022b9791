"""Letta's way to run a tool: as `__main__`, with the names that Letta's generated script defines, its argument rules, the
agent's state, and its form of the result.

Nothing is generated and no argument becomes source. Names that the script would define are only made if the tool's code
mentions them, so that a tool that does not pays for none of it.
"""

from belljar_runtime.own_builtins import OWN as __builtins__

import _warnings
import sys
from posix import environ

from belljar_runtime import letta_shim
from belljar_runtime.arguments import parameters_of
from belljar_runtime.awaiting import is_async, run_to_end
from belljar_runtime.letta_arguments import convert
from belljar_runtime.letta_coercion import coerce
from belljar_runtime.tool import SourceError, Tool
from belljar_runtime.verdicts import Failed, Invalid

MODULE_NAME = "__main__"
RESERVED = ("agent_state", "agent_id")
CO_OPTIMIZED = 0x1
CO_FUTURE_ANNOTATIONS = 0x1000000
_modules = sys.modules
_IGNORE_ALL = ("ignore", None, Warning, None, 0)
_note_changed_filters = getattr(_warnings, "_filters_mutated", int)  # 3.14 has none that may be called without its lock
_SCRIPT_MODULES = frozenset(("sys", "pickle", "base64", "struct", "hashlib", "asyncio", "os"))
_TYPING_NAMES = frozenset((
    "AbstractSet", "Annotated", "Any", "AnyStr", "AsyncGenerator", "AsyncIterable", "AsyncIterator", "Awaitable",
    "BinaryIO", "ByteString", "Callable", "ChainMap", "ClassVar", "Collection", "Container", "Coroutine", "Counter",
    "DefaultDict", "Deque", "Dict", "Final", "ForwardRef", "FrozenSet", "Generator", "Generic", "Hashable", "IO",
    "ItemsView", "Iterable", "Iterator", "KeysView", "List", "Literal", "LiteralString", "Mapping", "MappingView", "Match",
    "MutableMapping", "MutableSequence", "MutableSet", "NamedTuple", "NewType", "NoReturn", "NotRequired", "Optional",
    "OrderedDict", "ParamSpec", "Pattern", "Protocol", "Required", "Reversible", "Self", "Sequence", "Set", "Sized",
    "SupportsAbs", "SupportsBytes", "SupportsComplex", "SupportsFloat", "SupportsIndex", "SupportsInt", "SupportsRound",
    "Text", "TextIO", "Tuple", "Type", "TypeAlias", "TypeGuard", "TypeVar", "TypedDict", "Union", "Unpack", "ValuesView",
    "TYPE_CHECKING", "cast", "final", "get_args", "get_origin", "get_type_hints", "no_type_check", "overload",
    "runtime_checkable"))


def make_tool(request, surroundings):
    # Letta's generated models bring `from __future__ import annotations` with them: annotations may name what they define.
    flags = CO_FUTURE_ANNOTATIONS if (request.get("letta") or {}).get("args_json_schema") else 0
    try:
        return Tool(request["source"], request["filename"], surroundings, MODULE_NAME, flags)
    except SourceError as error:
        reason, line, traceback = error.reason, error.line, error.traceback
    raise Failed("SyntaxError", "%s (<unknown>, line %d)" % (reason, line), traceback)


class LettaCall:
    """One call in Letta mode: `value()` runs the tool; `state`, if it was handed out, is what the tool left of it."""

    def __init__(self, tool, request):
        self._tool = tool
        self._name = request["name"]
        self._given = request["args"]
        self._context = request["letta"]
        self._most_items = request["max_return_bytes"]
        self._models = None
        self.state = None

    def value(self):
        tool = self._tool
        _silence_warnings()
        letta_shim.install()
        self._define_names(_mentioned(tool.code))
        tool.run()
        function = self._function()
        parameters = parameters_of(function)
        keywords = self._keywords(function, parameters)
        positional = parameters.take_positional(keywords) if parameters is not None else ()
        value = function(*positional, **keywords)
        return run_to_end(value, self._most_items) if is_async(value) else value

    def _define_names(self, mentioned):
        namespace = self._tool.namespace
        source = self._tool.source
        namespace["client"] = _client() if "client" in mentioned else None
        if "Letta" in mentioned:
            namespace["Letta"] = _client_class()
        if "agent_state" in mentioned and "agent_state" in _static_parameters(self._tool.code, self._name):
            namespace["agent_state"] = self._agent_state()
        else:
            namespace["agent_state"] = None
        for name in mentioned & letta_shim.NAMES:
            namespace[name] = letta_shim.import_name(name)
        schema = self._context.get("args_json_schema")
        typing_names = _TYPING_NAMES if schema else mentioned & _TYPING_NAMES
        if typing_names:
            import typing

            namespace.update((name, getattr(typing, name)) for name in typing_names if hasattr(typing, name))
        if schema:
            from belljar_runtime.letta_models import ArgumentModels

            self._models = ArgumentModels(schema)
            namespace.update(self._models.named(mentioned))
        for name in mentioned & _SCRIPT_MODULES:
            if "import " + name not in source:
                namespace[name] = __import__(name)

    def _function(self):
        if self._name is None:
            return self._tool.function(None)
        try:
            return self._tool.namespace[self._name]
        except KeyError:
            raise Invalid("NameError", "name %r is not defined" % self._name) from None

    def _keywords(self, function, parameters):
        given, context = self._given, self._context
        if type(given) is not dict:
            raise Invalid("InvalidArguments", "The arguments must be a JSON object of parameter names and values.")
        name = self._name or getattr(function, "__name__", "")
        taken = self._reserved_parameters(parameters, name)
        given = {key: value for key, value in given.items() if key not in taken}
        if context.get("coerce", True):
            given = coerce(self._tool.source, self._tool.code, name, function, given)
        if self._models is not None:
            keywords = self._models.arguments(given)
        else:
            keywords = convert(given, context.get("properties"))
        if "agent_state" in taken:
            keywords["agent_state"] = self._agent_state()
        if "agent_id" in taken:
            keywords["agent_id"] = self._agent_id()
        return keywords

    def _reserved_parameters(self, parameters, name):
        """Those of `agent_state` and `agent_id` that the function takes; a decorator may hide them behind **others."""
        if parameters is None:
            return ()
        taken = [one for one in RESERVED if one in parameters.names]
        if parameters.accepts_others:
            static = _static_parameters(self._tool.code, name)
            taken += [one for one in RESERVED if one in static and one not in taken]
        return taken

    def _agent_state(self):
        sent = self._context.get("agent_state")
        if self.state is None and sent is not None:
            self.state = letta_shim.AgentState(sent)
        return self.state

    def _agent_id(self):
        state = self._context.get("agent_state")
        return self._context.get("agent_id") or (state.get("id") if type(state) is dict else None)


def clean_up():
    """After a rehearsal: the interpreter is as it was."""
    letta_shim.uninstall()
    _warnings.filters.remove(_IGNORE_ALL)
    _note_changed_filters()


def run_exit_handlers(count_before):
    """What the tool itself registered with `atexit`: Letta's process ends in the usual way, and so they run."""
    atexit = _modules.get("atexit")
    if atexit is not None and atexit._ncallbacks() > count_before:
        atexit._run_exitfuncs()


def count_exit_handlers():
    atexit = _modules.get("atexit")
    return atexit._ncallbacks() if atexit is not None else 0


def _mentioned(code):
    """Names of globals and attributes in a module's code, its functions and classes included."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if type(constant) is type(code):
            names |= _mentioned(constant)
    return names


def _static_parameters(code, name):
    """Parameter names of every function of that name, at any depth."""
    found = set()
    for constant in code.co_consts:
        if type(constant) is type(code):
            if constant.co_name == name and constant.co_flags & CO_OPTIMIZED:
                found.update(constant.co_varnames[:constant.co_argcount + constant.co_kwonlyargcount])
            found |= _static_parameters(constant, name)
    return found


def _client_class():
    try:
        from letta_client import Letta
    except ImportError:
        return None
    return Letta


def _client():
    """A client of the Letta API, or None without the package or a key."""
    key = environ.get(b"LETTA_API_KEY", b"").decode("utf-8", "surrogateescape")
    if not key:
        return None
    client_class = _client_class()
    if client_class is None:
        return None
    version = getattr(_modules["letta_client"], "__version__", "1")
    is_old = version.partition(".")[0] == "0"
    return client_class(token=key) if is_old else client_class(api_key=key)


def _silence_warnings():
    # Letta runs its scripts with PYTHONWARNINGS=ignore; `__main__` would otherwise show the deprecations too.
    _warnings.filters.insert(0, _IGNORE_ALL)
    _note_changed_filters()
