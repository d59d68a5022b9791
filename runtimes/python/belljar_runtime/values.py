"""A tool's return value becomes JSON, as a person would expect it to look.

Plain values go straight to the C encoder. Everything else is first rebuilt out of plain types; README.md has the table.
"""

from belljar_runtime.own_builtins import OWN as __builtins__

import marshal
import sys

from belljar_runtime import jsontext
from belljar_runtime.verdicts import Failed

MOST_LEVELS = 200
# What the engine's numbers hold. Readers lose digits of longer ones.
_LARGEST, _SMALLEST = (1 << 64) - 1, -(1 << 63)
# Digits become "0" and all else a blank: a run of 19 zeros is a number that may not fit into 64 bits.
_DIGIT_RUNS = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))
_LONG_RUN = b"0" * 19
_MARSHAL_VERSION = 2  # the last one without a table of references, which is what costs time
_modules = sys.modules


def encode_return(value, most_bytes):
    """UTF-8 JSON of the value; Failed if it is too large, too deep, contains itself or cannot be shown."""
    encoded = _encode_plain(value)
    if encoded is not None and may_hold_long_integers(encoded):
        encoded = None
    # Outside of any `except`: what the tool's own code raises below must not be chained to errors of ours.
    if encoded is None:
        try:
            encoded = jsontext.dump(Rebuilder(most_bytes).rebuild(value))
        except RecursionError:
            raise _too_deep() from None
    if len(encoded) > most_bytes:
        raise _too_large(most_bytes)
    return encoded


def _encode_plain(value):
    """None if the value is not made of exact JSON types alone."""
    try:
        # The C encoder would take a named tuple for a list and keep quiet about it. marshal refuses every subclass,
        # at C speed; what it accepts beyond JSON (bytes, sets) the encoder refuses.
        marshal.dumps(value, _MARSHAL_VERSION)
        encoded = jsontext.dump(value)
    except (TypeError, ValueError, RecursionError):
        return None
    brackets = encoded.count(b"[") + encoded.count(b"{")
    return None if brackets > MOST_LEVELS and _is_deep(value) else encoded


def may_hold_long_integers(encoded):
    return _LONG_RUN in encoded.translate(_DIGIT_RUNS)


def _is_deep(value):
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [item for parent in level for item in (parent.values() if type(parent) is dict else parent)
                 if type(item) in (dict, list, tuple)]
        if not level:
            return False
    return True


def _too_deep():
    return Failed("ReturnTooDeep", "The return value is nested more than %d levels deep; return a flatter one."
                  % MOST_LEVELS)


def _too_large(most_bytes):
    return Failed("ReturnTooLarge", "The return value is larger than %d bytes as JSON; return less, or raise the limit."
                  % most_bytes)


class Rebuilder:
    """Rebuilds one value out of dict, list, str, int, float, bool and None."""

    def __init__(self, most_bytes):
        self._most_bytes = most_bytes
        self._bytes_left = most_bytes  # by a low estimate, so that an endless generator ends
        self._ancestors = set()

    def rebuild(self, value):
        kind = type(value)
        if value is None or kind is bool:
            self._spend(1)
            return value
        if kind is int:
            return self._integer(value)
        if kind is str:
            self._spend(len(value) + 2)
            return value
        if kind is float:
            self._spend(1)
            return value if value - value == 0 else None  # JSON has no NaN and no infinities
        identity = id(value)
        if identity in self._ancestors:
            raise Failed("ReturnContainsItself", "The return value contains itself; return one without cycles.")
        if len(self._ancestors) >= MOST_LEVELS:
            raise _too_deep()
        self._ancestors.add(identity)
        rebuilt = self._rebuild_object(value, kind)
        self._ancestors.discard(identity)
        return rebuilt

    def _rebuild_object(self, value, kind):
        if kind is dict:
            return self._object(value.items())
        if kind is list or kind is tuple:
            return self._array(value)
        if kind is set or kind is frozenset:
            return self._array(_in_order(value))
        for rule in (_as_enum, _as_plain_subclass, _as_model, _as_record, _as_text, _as_numpy):
            found, plainer = rule(value, kind)
            if found:
                return self.rebuild(plainer)
        return self._rebuild_collection(value)

    def _rebuild_collection(self, value):
        from _collections_abc import Iterator, Mapping, MappingView, Sequence, Set
        from _io import _IOBase

        if isinstance(value, _IOBase):  # it could be read, but that is not what it is
            return self.rebuild(_shown(value))
        if isinstance(value, Mapping):
            return self._object(value.items())
        if isinstance(value, (Sequence, Iterator, MappingView)):
            return self._array(value)
        if isinstance(value, Set):
            return self._array(_in_order(value))
        return self.rebuild(_shown(value))

    def _object(self, items):
        self._spend(2)
        return {self._key(key): self.rebuild(item) for key, item in items}

    def _array(self, items):
        self._spend(2)
        return [self.rebuild(item) for item in items]

    def _integer(self, value):
        self._spend(1)
        return value if _SMALLEST <= value <= _LARGEST else jsontext.dump(value).decode()

    def _key(self, key):
        if type(key) is str:
            self._spend(len(key) + 3)
            return key
        plain = self.rebuild(key)
        if type(plain) is str:
            return plain
        if plain is None and key is not None:  # NaN and the infinities
            return str(key)
        return _shown(key) if type(plain) in (dict, list) else jsontext.dump(plain).decode()

    def _spend(self, size_bytes):
        self._bytes_left -= size_bytes
        if self._bytes_left < 0:
            raise _too_large(self._most_bytes)


# Each rule answers (True, a plainer value) or _NOT_MINE. An earlier rule wins.
_NOT_MINE = (False, None)


def _as_enum(value, kind):
    enum = _modules.get("enum")
    if enum is not None and isinstance(value, enum.Enum):
        return True, value.value
    return _NOT_MINE


def _as_plain_subclass(value, kind):
    if isinstance(value, str):
        return True, str.__str__(value)
    if isinstance(value, int):
        return True, int.__index__(value)
    if isinstance(value, float):
        return True, float.__float__(value)
    return _NOT_MINE


def _as_model(value, kind):
    if "pydantic" not in _modules:
        return _NOT_MINE
    if hasattr(kind, "model_dump") and hasattr(kind, "__pydantic_validator__"):
        return True, _dump_model(value)
    if hasattr(kind, "parse_obj") and hasattr(kind, "__fields__"):  # version 1
        return True, value.dict()
    return _NOT_MINE


def _dump_model(model):
    try:
        return model.model_dump(mode="json")
    except Exception:  # a field of a type that pydantic cannot show; this module can
        return model.model_dump()


def _as_record(value, kind):
    if hasattr(kind, "__dataclass_fields__"):
        names = [field.name for field in _modules["dataclasses"].fields(kind)]
        return True, {name: getattr(value, name) for name in names}
    if isinstance(value, tuple):
        names = getattr(kind, "_fields", None)
        return True, list(value) if names is None else dict(zip(names, value))
    if isinstance(value, list):
        return True, list(value)
    return _NOT_MINE


def _as_text(value, kind):
    if isinstance(value, (bytes, bytearray, memoryview)):
        return True, _bytes_as_text(bytes(value))
    datetime = _modules.get("datetime")
    if datetime is not None:
        if isinstance(value, datetime.timedelta):
            return True, value.total_seconds()
        if isinstance(value, (datetime.date, datetime.time)):
            return True, value.isoformat()
    return _NOT_MINE


def _bytes_as_text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        from binascii import b2a_base64

        return b2a_base64(data, newline=False).decode()


def _as_numpy(value, kind):
    numpy = _modules.get("numpy")
    if numpy is None or not isinstance(value, (numpy.generic, numpy.ndarray)):
        return _NOT_MINE
    if value.dtype.kind in "Mm":  # dates of a fine unit would become bare numbers
        return True, value.astype(str).tolist()
    plain = value.tolist()
    if isinstance(plain, numpy.generic):  # a long double has no plainer form of its own
        return True, float(plain)
    return True, plain


def _in_order(items):
    try:
        return sorted(items)
    except Exception:
        return list(items)


def _shown(value):
    try:
        return str.__str__(str(value))
    except Exception as error:
        reason = type(error).__name__
    raise Failed("ReturnNotShowable", "The return value contains an object of class %s whose str() raised %s;"
                 " return plain data." % (type(value).__qualname__, reason))
