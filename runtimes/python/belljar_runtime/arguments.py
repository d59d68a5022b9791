"""Arguments by name become the arguments of a call: names checked, simple annotations checked, models built.

A plain function is read from its code object; anything else (decorated, partial, callable object) through `inspect`,
which is imported only then.
"""

from belljar_runtime.own_builtins import OWN as __builtins__

from belljar_runtime.annotations import Mismatch, fit, text_of
from belljar_runtime.verdicts import Invalid

CO_VARKEYWORDS = 0x8
_Function = type(lambda: None)


class Parameters:
    """What a function accepts. `defaults` holds only parameters that have one."""

    def __init__(self, function, names, positional_only, defaults, accepts_others, annotations, scope):
        self.function = function
        self.names = names
        self.positional_only = positional_only
        self.defaults = defaults
        self.accepts_others = accepts_others
        self.annotations = annotations
        self.scope = scope  # the globals in which annotations written as text are evaluated

    def bind(self, given):
        """(positional, keywords) for the call; Mismatch if the names or the types do not fit."""
        self._check_names(given)
        keywords = dict(given)
        for name in self.names:
            if name in keywords and name in self.annotations:
                value = keywords[name]
                if value is None and self.defaults.get(name, self) is None:
                    continue  # `days: int = None` means that None is welcome
                keywords[name] = fit(value, self.annotations[name], self.scope, name)
        return self.take_positional(keywords), keywords

    def take_positional(self, keywords):
        """Those of the arguments that the function takes by position only, in its order; `keywords` loses them."""
        positional = []
        for name in self.positional_only:
            if name not in keywords and name not in self.defaults:
                break
            positional.append(keywords.pop(name, self.defaults.get(name)))
        return positional

    def _check_names(self, given):
        complaints = []
        missing = [name for name in self.names if name not in given and name not in self.defaults]
        if missing:
            complaints.append("lacks " + _quoted(missing))
        if not self.accepts_others:
            unexpected = [name for name in given if name not in self.names]
            if unexpected:
                complaints.append("passes the unknown " + _quoted(unexpected))
        if complaints:
            raise Mismatch(" and ".join(complaints))

    def __str__(self):
        shown = []
        for name in self.names:
            part = name
            if name in self.annotations:
                part += ": " + text_of(self.annotations[name])
            if name in self.defaults:
                part += " = " + _short_repr(self.defaults[name])
            shown.append(part)
        if self.accepts_others:
            shown.append("**others")
        return "%s(%s)" % (getattr(self.function, "__name__", "the function"), ", ".join(shown))


def bind(function, given):
    """(positional, keywords) with which to call the tool's function; Invalid if they do not fit it."""
    if type(given) is not dict:
        raise Invalid("InvalidArguments", "The arguments must be a JSON object of parameter names and values.")
    parameters = parameters_of(function)
    if parameters is None:
        return (), given
    try:
        return parameters.bind(given)
    except Mismatch as mismatch:
        reason = str(mismatch)
    subject = "The argument " if reason.startswith('"') else "The call "
    raise Invalid("InvalidArguments", "%s%s; call it as %s." % (subject, reason, parameters))


def build_dataclass(wanted, value, path):
    """An instance of a dataclass from a JSON object, by the same rules as a call of its constructor."""
    if type(value) is not dict:
        raise Mismatch.at(path, wanted, value)
    parameters = parameters_of(wanted.__init__, skip_first=True)
    try:
        positional, keywords = parameters.bind(value) if parameters else ((), value)
    except Mismatch as mismatch:
        reason = str(mismatch) if str(mismatch).startswith('"') else "it " + str(mismatch)
        raise Mismatch('"%s" does not fit %s: %s' % (path, wanted.__name__, reason)) from None
    return wanted(*positional, **keywords)


def parameters_of(function, skip_first=False):
    """Parameters, or None for a callable that does not tell."""
    if type(function) is not _Function or hasattr(function, "__wrapped__") or hasattr(function, "__signature__"):
        return _inspected(function, skip_first)
    code = function.__code__
    skipped = 1 if skip_first else 0
    count = code.co_argcount
    names = code.co_varnames[skipped:count + code.co_kwonlyargcount]
    values = function.__defaults__ or ()
    defaults = dict(zip(code.co_varnames[count - len(values):count], values))
    if function.__kwdefaults__:
        defaults.update(function.__kwdefaults__)
    return Parameters(function, names, code.co_varnames[skipped:code.co_posonlyargcount], defaults,
                      bool(code.co_flags & CO_VARKEYWORDS), _annotations_of(function), function.__globals__)


def _annotations_of(function):
    try:
        return function.__annotations__
    except Exception:  # 3.14 evaluates them only now; what cannot be evaluated is not checked
        return {}


def _inspected(function, skip_first):
    import inspect

    try:
        found = list(inspect.signature(function).parameters.values())[1 if skip_first else 0:]
    except Exception:
        return None
    named = [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return Parameters(
        function,
        tuple(p.name for p in named),
        tuple(p.name for p in named if p.kind is p.POSITIONAL_ONLY),
        {p.name: p.default for p in named if p.default is not p.empty},
        any(p.kind is p.VAR_KEYWORD for p in found),
        {p.name: p.annotation for p in named if p.annotation is not p.empty},
        getattr(inspect.unwrap(function), "__globals__", {}))


def _quoted(names):
    return ", ".join('"%s"' % name for name in names)


def _short_repr(value):
    try:
        shown = repr(value)
    except Exception:
        return "..."
    return shown if len(shown) <= 40 else shown[:37] + "..."
