"""A tool's schema when its arguments come with a JSON schema of their own: references inlined, descriptions copied."""

MOST_SCHEMA_LEVELS = 40


class BadArgsSchema(ValueError):
    pass


def schema_from_args(args_json_schema, name, description):
    properties = args_json_schema.get("properties")
    if not isinstance(properties, dict):
        raise BadArgsSchema("args_json_schema has no properties")
    converter = _Converter(args_json_schema)
    required = args_json_schema.get("required") or []
    return {"name": name, "description": description, "parameters": {
        "type": "object",
        "properties": {key: converter.described(definition, 0, ()) for key, definition in properties.items()},
        "required": [key for key in properties if key in required]}}


class _Converter:
    def __init__(self, root):
        self._root = root

    def described(self, definition, level, inside):
        if not isinstance(definition, dict):
            raise BadArgsSchema("Unable to convert field schema to type: %.200r" % (definition,))
        schema = self._convert(definition, level, inside)
        schema.pop("description", None)
        return dict(schema, description=definition.get("description", ""))

    def _convert(self, definition, level, inside):
        if level > MOST_SCHEMA_LEVELS:
            raise BadArgsSchema("args_json_schema is nested more than %d levels deep" % MOST_SCHEMA_LEVELS)
        if not isinstance(definition, dict):
            return {}
        if "$ref" in definition:
            return self._referred(definition["$ref"], level, inside)
        options = definition.get("anyOf") or definition.get("oneOf")
        if options:
            return self._any_of(options, level, inside)
        kind = definition.get("type")
        if isinstance(kind, list):
            return self._any_of([dict(definition, type=one) for one in kind], level, inside)
        if kind == "array":
            return {"type": "array", "items": self._convert(definition.get("items") or {"type": "string"}, level + 1, inside)}
        if kind == "object":
            return self._object(definition, level, inside)
        if kind in ("string", "integer", "number", "boolean", "null"):
            return dict({"type": kind}, **({"enum": definition["enum"]} if definition.get("enum") else {}))
        if definition.get("enum"):
            return {"enum": definition["enum"]}
        raise BadArgsSchema("Unable to convert pydantic field schema to type: %s" % (definition,))

    def _object(self, definition, level, inside):
        if definition.get("properties"):
            properties = {key: self.described(inner, level + 1, inside) for key, inner in definition["properties"].items()}
            required = [key for key in properties if key in (definition.get("required") or ())]
            return {"type": "object", "properties": properties, "required": required}
        others = definition.get("additionalProperties")
        if isinstance(others, dict) and others:
            return {"type": "object", "additionalProperties": self._convert(others, level + 1, inside)}
        return {"type": "object"}

    def _any_of(self, options, level, inside):
        schemas = [self._convert(option, level + 1, inside) for option in options
                   if not (isinstance(option, dict) and option.get("type") == "null")]
        if not schemas:
            return {"type": "null"}
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}

    def _referred(self, reference, level, inside):
        name = str(reference).rpartition("/")[2]
        definitions = self._root.get("$defs") or self._root.get("definitions") or {}
        if name not in definitions:
            raise BadArgsSchema("Reference %s not found in nested models" % name)
        if name in inside:  # a definition that contains itself
            return {"type": "object"}
        return self._convert(definitions[name], level + 1, inside + (name,))
