"""Does a JSON value fit an annotation? Simple annotations are checked, models built, unknown ones let through.

Nothing of `typing`, `dataclasses` or `pydantic` is imported: an annotation of theirs can only exist if they are loaded.
"""

from belljar_runtime.own_builtins import OWN as __builtins__

import sys

MOST_TEXT = 120
_NoneType = type(None)
_modules = sys.modules


class Mismatch(Exception):
    """A sentence's rest: the value at a path does not fit."""

    @classmethod
    def at(cls, path, wanted, value):
        return cls('"%s" must be %s, not %s' % (path, text_of(wanted), text_of(type(value))))


def fit(value, wanted, scope, path):
    """The value as the function should get it; Mismatch if it contradicts what is wanted."""
    if type(value) is wanted:
        return value
    if isinstance(wanted, str):
        return _fit_text(value, wanted, scope, path)
    if wanted is int and type(value) is float and value.is_integer():
        return int(value)  # JSON has one kind of number, and 3.0 is an integer in it
    if wanted is float and type(value) is int:
        return value
    if wanted is None and value is None:
        return value
    if wanted is None or any(wanted is kind for kind in (int, float, str, bool, list, dict, _NoneType)):
        raise Mismatch.at(path, wanted, value)
    if isinstance(wanted, type) and not hasattr(wanted, "__origin__"):
        return _fit_class(value, wanted, path)
    return _fit_generic(value, wanted, scope, path)


def text_of(wanted):
    """An annotation as a person would write it."""
    if isinstance(wanted, str):
        return wanted
    if wanted is None or wanted is _NoneType:
        return "None"
    try:
        if isinstance(wanted, type) and not hasattr(wanted, "__origin__"):
            return wanted.__name__
        shown = repr(wanted).replace("typing.", "").replace("NoneType", "None")
    except Exception:
        return "another type"
    return shown if len(shown) <= MOST_TEXT else shown[:MOST_TEXT] + "..."


def _fit_text(value, text, scope, path):
    try:
        wanted = eval(text, scope)
    except Exception:  # a name that exists only for type checkers
        return value
    return value if isinstance(wanted, str) else fit(value, wanted, scope, path)


def _fit_class(value, wanted, path):
    build = None
    if "pydantic" in _modules:
        build = getattr(wanted, "model_validate", None)  # version 2
        if build is None and hasattr(wanted, "__fields__"):
            build = getattr(wanted, "parse_obj", None)  # version 1
    if build is None and "dataclasses" in _modules and hasattr(wanted, "__dataclass_fields__"):
        from belljar_runtime.arguments import build_dataclass

        def build(fields):
            return build_dataclass(wanted, fields, path)
    if build is None:
        return value
    try:
        return build(value)
    except Mismatch:
        raise
    except Exception as error:
        reason = _validation_text(error)
    raise Mismatch('"%s" does not fit %s: %s' % (path, wanted.__name__, reason))


def _validation_text(error):
    try:
        return "; ".join("%s: %s" % (".".join(map(str, entry["loc"])) or "value", entry["msg"])
                         for entry in error.errors()[:5])
    except Exception:
        pass
    try:
        return "%s: %s" % (type(error).__name__, " ".join(str(error).split()))
    except Exception:
        return type(error).__name__


def _fit_generic(value, wanted, scope, path):
    typing = _modules.get("typing")
    origin = getattr(wanted, "__origin__", None)
    options = getattr(wanted, "__args__", ())
    if hasattr(wanted, "__metadata__"):  # Annotated[int, ...]
        return fit(value, origin, scope, path)
    if hasattr(wanted, "__forward_arg__"):  # Optional["Model"]
        return _fit_text(value, wanted.__forward_arg__, scope, path)
    if type(wanted).__name__ == "UnionType" or (typing is not None and origin is typing.Union):
        return _fit_union(value, wanted, options, scope, path)
    if origin is list:
        return _fit_list(value, wanted, options, scope, path)
    if origin is dict:
        return _fit_dict(value, wanted, options, scope, path)
    if typing is not None and origin is typing.Literal:
        if not any(value == option and type(value) is type(option) for option in options):
            raise Mismatch('"%s" must be %s, not %.100r' % (path, " or ".join(map(repr, options)), value))
    return value


def _fit_union(value, wanted, options, scope, path):
    if any(type(value) is option for option in options):
        return value
    reasons = []
    for option in options:
        try:
            return fit(value, option, scope, path)
        except Mismatch as mismatch:
            reasons.append(mismatch)
    # Optional[Model]: why the model refused tells more than that it is neither a Model nor None.
    telling = [reason for reason in reasons if "does not fit" in str(reason)]
    raise telling[0] if telling else Mismatch.at(path, wanted, value)


def _fit_list(value, wanted, options, scope, path):
    if type(value) is not list:
        raise Mismatch.at(path, wanted, value)
    if len(options) != 1:
        return value
    inner = options[0]
    return [item if type(item) is inner else fit(item, inner, scope, "%s[%d]" % (path, index))
            for index, item in enumerate(value)]


def _fit_dict(value, wanted, options, scope, path):
    if type(value) is not dict:
        raise Mismatch.at(path, wanted, value)
    if len(options) != 2:
        return value
    inner = options[1]  # keys of a JSON object are text whatever the annotation says
    return {key: item if type(item) is inner else fit(item, inner, scope, "%s[%s]" % (path, key))
            for key, item in value.items()}
