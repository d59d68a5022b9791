"""Checks arguments against a JSON schema where the environment has no pydantic: required fields, types, enums, nesting.

As lenient as pydantic: text that spells a number is one, and a field that may be missing may be null.
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
            if name in value:
                checked[name] = self._field(value[name], definition, here, name in required, level)
            elif name in required and "default" not in definition:
                self._complaints.append(here + ": Field required")
            else:
                checked[name] = definition.get("default") if type(definition) is dict else None
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
        reason = "Input does not fit"
        for option in options:
            try:
                checked = self._checked(value, option, path, level + 1)
                if len(self._complaints) == before:
                    return checked
                reason = self._complaints[before].partition(": ")[2]
                del self._complaints[before:]
            except _Mismatch as mismatch:
                reason = str(mismatch)
        raise _Mismatch(reason)

    def _typed(self, value, definition, wanted, path, level):
        if wanted == "object" or (wanted is None and "properties" in definition):
            if definition.get("properties"):
                return self._object(value, definition, path + ".", level + 1)
            if type(value) is not dict:
                raise _Mismatch("Input should be a valid dictionary")
            inner = definition.get("additionalProperties")
            return {key: self._checked(item, inner, path + "." + key, level + 1) for key, item in value.items()}
        if wanted == "array":
            if type(value) is not list:
                raise _Mismatch("Input should be a valid list")
            inner = definition.get("items")
            return [self._field(item, inner, "%s.%d" % (path, index), True, level + 1) for index, item in enumerate(value)]
        if wanted is None:
            return value
        if wanted not in _SIMPLE:
            raise SchemaError("it has the unknown type %.100r" % (wanted,))
        return _SIMPLE[wanted](value)


def _text(value):
    if type(value) is not str:
        raise _Mismatch("Input should be a valid string")
    return value


def _integer(value):
    if type(value) is bool or (type(value) is float and not value.is_integer()):
        raise _Mismatch("Input should be a valid integer")
    try:
        return int(value)
    except (ValueError, TypeError, OverflowError):
        raise _Mismatch("Input should be a valid integer") from None


def _number(value):
    try:
        return float(value)
    except (ValueError, TypeError, OverflowError):
        raise _Mismatch("Input should be a valid number") from None


def _boolean(value):
    text = value.strip().lower() if type(value) is str else value
    if any(text is one or text == one for one in (True, "true", "1", "yes", "on")):
        return True
    if any(text is one or text == one for one in (False, "false", "0", "no", "off")):
        return False
    raise _Mismatch("Input should be a valid boolean")


def _null(value):
    if value is not None:
        raise _Mismatch("Input should be None")


_SIMPLE = {"string": _text, "integer": _integer, "number": _number, "boolean": _boolean, "null": _null}
