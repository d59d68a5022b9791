"""OpenAI's strict mode for a tool's schema: nothing beyond the properties, all of them required, optional ones nullable."""

import json


def strict_schema(schema):
    """A changed copy."""
    schema = json.loads(json.dumps(schema))
    schema["strict"] = True
    parameters = schema.get("parameters")
    if isinstance(parameters, dict) and parameters.get("type") == "object":
        properties = parameters.get("properties") or {}
        required = parameters.get("required") or []
        parameters["additionalProperties"] = False
        for name, definition in properties.items():
            _make_strict(definition)
            if name not in required:
                _make_nullable(definition)
        parameters["required"] = list(properties)
    return schema


def _make_strict(definition):
    if not isinstance(definition, dict):
        return
    for option in definition.get("anyOf") or ():
        _make_strict(option)
    if "anyOf" in definition:
        return
    if definition.get("type") == "object" and "properties" in definition:
        for inner in definition["properties"].values():
            _make_strict(inner)
        definition["additionalProperties"] = False
        definition["required"] = list(definition["properties"])
    elif definition.get("type") == "array" and "items" in definition:
        _make_strict(definition["items"])


def _make_nullable(definition):
    kind = definition.get("type")
    if isinstance(kind, list):
        if "null" not in kind:
            kind.append("null")
    elif kind is not None:
        if kind != "null":
            definition["type"] = [kind, "null"]
    elif "anyOf" in definition:
        if not any(option.get("type") == "null" for option in definition["anyOf"]):
            definition["anyOf"].append({"type": "null"})
    elif "$ref" in definition:
        definition["anyOf"] = [{"$ref": definition.pop("$ref")}, {"type": "null"}]
    else:
        definition["type"] = "null"
