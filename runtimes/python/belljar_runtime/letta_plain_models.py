"""Checks arguments against a JSON schema where the environment has no pydantic: required fields, types, enums, bounds, nesting.

As lenient as pydantic, and in its words: text that spells a number is one, a field that may be missing may be null, of
several types that fit the one counts that changes nothing.
"""

from belljar_runtime.own_builtins import OWN as __builtins__

from belljar_runtime.letta_schema import SchemaError, name_of, resolve
from belljar_runtime.verdicts import Invalid

MOST_LEVELS = 60
MOST_COMPLAINTS = 5


class Fields(dict):
    """An object of the arguments: its keys are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError("%r object has no attribute %r" % (type(self).__name__, name)) from None

    def __setattr__(self, name, value):
        self[name] = value

    def __delattr__(self, name):
        del self[name]

    def model_dump(self, **options):
        return {key: _dumped(value) for key, value in self.items()}


def _dumped(value):
    if isinstance(value, Fields):
        return value.model_dump()
    return [_dumped(item) for item in value] if type(value) is list else value


class _Mismatch(Exception):
    pass


class Validator:
    def __init__(self, schema):
        self._schema = schema
        self._complaints = []

    def arguments(self, given):
        checked = self._object(given, self._schema, "", 0)
        if self._complaints:
            count = len(self._complaints)
            raise Invalid("ValidationError", "%d validation error%s for %s: %s" % (
                count, "" if count == 1 else "s", name_of(self._schema, "DynamicModel"),
                "; ".join(self._complaints[:MOST_COMPLAINTS])))
        known = self._schema.get("properties") or {}
        return {name: checked[name] for name in given if name in known}

    def _object(self, value, schema, path, level):
        if level > MOST_LEVELS:
            raise SchemaError("it is nested more than %d levels deep" % MOST_LEVELS)
        if type(value) is not dict:
            raise _Mismatch("Input should be a valid dictionary")
        properties = schema.get("properties") or {}
        required = schema.get("required") or ()
        checked = Fields()
        for name, definition in properties.items():
            here = path + name
            has_default = type(definition) is dict and "default" in definition
            is_required = name in required and not has_default
            if name in value:
                checked[name] = self._field(value[name], definition, here, is_required, level)
            elif is_required:
                self._complaints.append(here + ": Field required")
            else:
                checked[name] = definition["default"] if has_default else None
        return checked

    def _field(self, value, definition, path, is_required, level):
        if value is None and not is_required:
            return None
        try:
            return self._checked(value, definition, path, level)
        except _Mismatch as mismatch:
            self._complaints.append("%s: %s" % (path, mismatch))

    def _checked(self, value, definition, path, level):
        if definition is True or not definition:
            return value
        if "$ref" in definition:
            return self._checked(value, resolve(self._schema, definition["$ref"]), path, level + 1)
        allowed = definition.get("enum") or ([definition["const"]] if "const" in definition else None)
        if allowed is not None:
            if not any(value == one and type(value) is type(one) for one in allowed):
                raise _Mismatch("Input should be " + " or ".join(map(repr, allowed)))
            return value
        options = definition.get("anyOf") or definition.get("oneOf")
        if options:
            return self._one_of(value, options, path, level)
        if len(definition.get("allOf") or ()) == 1:
            return self._checked(value, definition["allOf"][0], path, level + 1)
        wanted = definition.get("type")
        if type(wanted) is list:
            return self._one_of(value, [dict(definition, type=one) for one in wanted], path, level)
        return self._typed(value, definition, wanted, path, level)

    def _one_of(self, value, options, path, level):
        before = len(self._complaints)
        fitting, reasons = [], []
        for option in options:
            try:
                checked = self._checked(value, option, path, level + 1)
            except _Mismatch as mismatch:
                if option != {"type": "null"}:
                    reasons.append(str(mismatch))
                continue
            if len(self._complaints) > before:
                reasons.append(self._complaints[before].partition(": ")[2])
                del self._complaints[before:]
            elif type(checked) is type(value):
                return checked
            else:
                fitting.append(checked)
        if fitting:
            return fitting[0]
        raise _Mismatch(reasons[0] if reasons else "Input should be None")

    def _typed(self, value, definition, wanted, path, level):
        if wanted == "object" or (wanted is None and "properties" in definition):
            if definition.get("properties"):
                return self._object(value, definition, path + ".", level + 1)
            if type(value) is not dict:
                raise _Mismatch("Input should be a valid dictionary")
            inner = definition.get("additionalProperties")
            return {key: self._field(item, inner, path + "." + key, True, level + 1) for key, item in value.items()}
        if wanted == "array":
            if type(value) is not list:
                raise _Mismatch("Input should be a valid list")
            inner = definition.get("items")
            _check_bounds(value, definition)
            return [self._field(item, inner, "%s.%d" % (path, index), True, level + 1) for index, item in enumerate(value)]
        if wanted is None:
            return value
        if wanted not in _SIMPLE:
            raise SchemaError("it has the unknown type %.100r" % (wanted,))
        checked = _formed(value, definition.get("format")) if wanted == "string" else _SIMPLE[wanted](value)
        _check_bounds(checked, definition)
        return checked


def _text(value):
    if type(value) is not str:
        raise _Mismatch("Input should be a valid string")
    return value


def _integer(value):
    kind = type(value)
    if kind is float and not value.is_integer():
        raise _Mismatch("Input should be a valid integer, got a number with a fractional part")
    try:
        whole, _, zeros = value.strip().partition(".") if kind is str else (value, "", "")
        return int(whole if not zeros.strip("0") else value)
    except (ValueError, TypeError, OverflowError):
        raise _Mismatch("Input should be a valid integer" + _if_text(kind, "parse string as an integer")) from None


def _number(value):
    try:
        return float(value)
    except (ValueError, TypeError, OverflowError):
        raise _Mismatch("Input should be a valid number" + _if_text(type(value), "parse string as a number")) from None


def _if_text(kind, unable):
    return ", unable to " + unable if kind is str else ""


_TRUE, _FALSE = ("1", "true", "t", "yes", "y", "on"), ("0", "false", "f", "no", "n", "off")


def _boolean(value):
    kind = type(value)
    if kind is str and value.lower() in _TRUE + _FALSE:
        return value.lower() in _TRUE
    if kind in (bool, int, float) and value in (0, 1):
        return value == 1
    raise _Mismatch("Input should be a valid boolean" + (", unable to interpret input" if kind in (str, int) else ""))


def _null(value):
    if value is not None:
        raise _Mismatch("Input should be None")


_SIMPLE = {"string": _text, "integer": _integer, "number": _number, "boolean": _boolean, "null": _null}
_TIMES = {"date-time": "datetime", "date": "date", "time": "time"}


def _formed(value, form):
    """Text, or what it stands for by its `format`."""
    text = _text(value)
    try:
        if form in _TIMES:
            import datetime

            return getattr(datetime, _TIMES[form]).fromisoformat(text[:-1] + "+00:00" if text[-1:] in "Zz" else text)
        if form == "uuid":
            import uuid

            return uuid.UUID(text)
    except ValueError:
        raise _Mismatch("Input should be a valid " + _TIMES.get(form, "UUID")) from None
    return text


_BOUNDS = (("minimum", "greater than or equal to", lambda value, bound: value >= bound),
           ("maximum", "less than or equal to", lambda value, bound: value <= bound),
           ("exclusiveMinimum", "greater than", lambda value, bound: value > bound),
           ("exclusiveMaximum", "less than", lambda value, bound: value < bound),
           ("multipleOf", "a multiple of", lambda value, bound: not bound or value % bound == 0))


def _check_bounds(value, definition):
    kind = type(value)
    if kind in (int, float):
        for word, text, holds in _BOUNDS:
            bound = definition.get(word)
            if type(bound) in (int, float) and not holds(value, bound):
                raise _Mismatch("Input should be %s %s" % (text, bound))
    elif kind is str:
        _check_length(value, definition.get("minLength"), definition.get("maxLength"), "String", "character", "")
        _check_pattern(value, definition.get("pattern"))
    elif kind is list:
        _check_length(value, definition.get("minItems"), definition.get("maxItems"), "List", "item",
                      " after validation, not %d" % len(value))


def _check_length(value, least, most, what, unit, after):
    for bound, words, sign in ((least, "at least", 1), (most, "at most", -1)):
        if type(bound) is int and sign * len(value) < sign * bound:
            raise _Mismatch("%s should have %s %d %s%s%s" % (what, words, bound, unit, "" if bound == 1 else "s", after))


def _check_pattern(value, pattern):
    if type(pattern) is not str:
        return
    import re

    try:
        found = re.search(pattern, value)
    except re.error as error:
        raise SchemaError("its pattern %.100r is none: %s" % (pattern, error)) from None
    if not found:
        raise _Mismatch("String should match pattern '%s'" % pattern)
