"""A Letta tool's return value: the JSON that Letta's own serialisation gives, and the text that Python's str() shows of it.

Letta dumps through pydantic and then `json.dumps(default=str)`: models and dataclasses become objects, tuples arrays,
everything else that JSON lacks its str(). JSON has no NaN, and readers lose digits of long integers: those are sent as text
("NaN", "Infinity", "-Infinity", "1000000000000000000000"), and the text form tells them from strings.
"""

from belljar_runtime.own_builtins import OWN as __builtins__

import sys

from belljar_runtime import jsontext
from belljar_runtime.values import (
    Rebuilder, _as_model, _encode_plain, _shown, _too_deep, _too_large, may_hold_long_integers)
from belljar_runtime.verdicts import Failed

Py_TPFLAGS_HEAPTYPE = 1 << 9
_modules = sys.modules
_LARGEST, _SMALLEST = (1 << 63) - 1, -(1 << 63)


def encode(value, most_bytes):
    """(JSON, text or None) as UTF-8; None if the value is a string, which is its own text. Failed if it is too large."""
    encoded = _encode_plain(value)
    if encoded is not None and not may_hold_long_integers(encoded):
        plain = jsontext.parse(encoded.decode()) if isinstance(value, (dict, list, tuple)) else value
    else:
        plain = _rebuilt(value, most_bytes)
        encoded = jsontext.dump(_portable(plain))
    if len(encoded) > most_bytes:
        raise _too_large(most_bytes)
    return encoded, None if type(plain) is str else _text(plain, most_bytes)


def encode_state(state, most_bytes):
    """JSON of an agent's state as the tool left it."""
    encoded = jsontext.dump(_portable(_rebuilt(state, most_bytes)))
    if len(encoded) > most_bytes:
        raise _too_large(most_bytes)
    return encoded


def _text(plain, most_bytes):
    text = jsontext.without_lone_surrogates(str(plain))
    encoded = jsontext.dump(text)
    if len(encoded) > most_bytes:
        raise _too_large(most_bytes)
    return encoded


def _rebuilt(value, most_bytes):
    try:
        return _LettaRebuilder(most_bytes).rebuild(value)
    except RecursionError:
        raise _too_deep() from None
    except Failed as failed:
        if failed.name != "ReturnContainsItself":
            raise
    return _shown(value)


def _portable(plain):
    kind = type(plain)
    if kind is float and plain - plain != 0:
        return "NaN" if plain != plain else "Infinity" if plain > 0 else "-Infinity"
    if kind is int and not _SMALLEST <= plain <= _LARGEST:
        return jsontext.dump(plain).decode()
    if kind is dict:
        return {key: _portable(item) for key, item in plain.items()}
    return [_portable(item) for item in plain] if kind is list else plain


class _LettaRebuilder(Rebuilder):
    def rebuild(self, value):
        if type(value) is float:  # NaN stays one until it has been shown as text
            self._spend(1)
            return value
        return Rebuilder.rebuild(self, value)

    def _integer(self, value):
        self._spend(1)
        return value  # of any length, until it has been shown as text

    def _rebuild_object(self, value, kind):
        if isinstance(value, dict):
            return self._object(value.items())
        if isinstance(value, (list, tuple)):
            return self._array(value)
        if isinstance(value, str):
            return self.rebuild(str.__str__(value))
        if isinstance(value, int):
            return self.rebuild(int.__index__(value))
        if isinstance(value, float):
            return self.rebuild(float.__float__(value))
        if hasattr(kind, "model_dump") and hasattr(kind, "__pydantic_validator__"):
            return self.rebuild(value.model_dump())
        found, plainer = _as_model(value, kind)  # pydantic 1
        if found:
            return self.rebuild(plainer)
        if hasattr(kind, "__dataclass_fields__"):
            return self._object([(name, getattr(value, name)) for name in _field_names(kind)])
        if hasattr(kind, "__next__"):
            return self._array(value)
        return self.rebuild(_shown(value))

    def _key(self, key):
        if isinstance(key, str):
            key = str.__str__(key)
            self._spend(len(key) + 3)
            return key
        if isinstance(key, float):
            key = _portable(float.__float__(key))
            return key if type(key) is str else repr(key)
        if key is None or type(key) is bool:
            return jsontext.dump(key).decode()
        if isinstance(key, int):
            return jsontext.dump(int.__index__(key)).decode()
        raise Failed("TypeError", "keys must be str, int, float, bool or None, not " + _c_name(type(key)))


def _c_name(kind):
    """A class as the C encoder names it: those written in C by their module too."""
    is_written_in_python = kind.__flags__ & Py_TPFLAGS_HEAPTYPE
    return kind.__name__ if is_written_in_python or kind.__module__ == "builtins" else kind.__module__ + "." + kind.__name__


def _field_names(kind):
    return [field.name for field in _modules["dataclasses"].fields(kind)]
