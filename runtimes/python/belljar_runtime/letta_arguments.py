"""Arguments of a Letta tool: by the types of its JSON schema, or through models built from `args_json_schema`."""

from belljar_runtime.own_builtins import OWN as __builtins__

from belljar_runtime import letta_data
from belljar_runtime.verdicts import Invalid


def convert(given, properties):
    """Arguments named by the schema, each as its `type` asks; without a schema all of them as they are.

    What the schema does not name is left out. A value whose type is not told, or is of another kind, passes unchanged.
    """
    if properties is None:
        return dict(given)
    return {name: _converted(value, _type_of(properties[name])) for name, value in given.items() if name in properties}


def _type_of(definition):
    if type(definition) is not dict:
        return None
    wanted = definition.get("type")
    if wanted is None and type(definition.get("parameters")) is dict:
        wanted = definition["parameters"].get("type")
    return wanted if type(wanted) is str else None


def _converted(value, wanted):
    if wanted == "integer":
        return _integer(value)
    if wanted == "boolean":
        return _boolean(value)
    if type(value) is str and wanted in _DATA_KINDS:
        return _data(value, _DATA_KINDS[wanted])
    return value


def _integer(value):
    if type(value) is int:
        return value
    try:
        return int(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise Invalid(type(error).__name__, str(error)) from None


def _boolean(value):
    if type(value) is bool:
        return value
    if type(value) is int and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise Invalid("ValueError", "Invalid boolean value: %s" % (value,))


_DATA_KINDS = {"number": (int, float), "array": (list, tuple, set), "object": (dict,)}


def _data(text, kinds):
    """Text given for a number, an array or an object: what it stands for if that is such data, else the text itself."""
    try:
        value = letta_data.read(text)
    except letta_data.NotData:
        return text
    return value if type(value) in kinds else text
