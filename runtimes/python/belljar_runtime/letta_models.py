"""`args_json_schema`: arguments are validated by it and arrive as objects with attributes.

With pydantic in the environment they are models made from the schema. Without it the checks below do, and what arrives is a
dictionary whose keys are attributes too. Either way a failure is the caller's mistake and names the field.
"""

from belljar_runtime.own_builtins import OWN as __builtins__

from belljar_runtime.letta_schema import SchemaError, name_of, resolve, target_name
from belljar_runtime.verdicts import Invalid

MOST_COMPLAINTS = 5
ROOT_NAME = "DynamicModel"


class ArgumentModels:
    """The models of one `args_json_schema`: the root's and those of its definitions."""

    def __init__(self, schema):
        self._schema = schema
        try:
            import pydantic
        except ImportError:
            pydantic = None
        self._pydantic = pydantic
        self._made = None

    def named(self, mentioned):
        """{name: class} for what the tool's code mentions of the names that Letta's script would define."""
        schema = self._schema
        definitions = schema.get("$defs") or schema.get("definitions") or {}
        wanted = mentioned & ({name_of(schema, ROOT_NAME)} | {target_name(name) for name in definitions})
        if not wanted:
            return {}
        if self._pydantic is None:
            from belljar_runtime.letta_plain_models import Fields

            return {name: type(name, (Fields,), {}) for name in wanted}
        try:
            root, models = self._models()
        except SchemaError:
            return {}  # told when arguments are built
        return {name: models.get(name, root) for name in wanted}

    def arguments(self, given):
        """{name: value} for the given arguments that the schema knows."""
        try:
            if self._pydantic is None:
                from belljar_runtime.letta_plain_models import Validator

                return Validator(self._schema).arguments(given)
            return self._by_pydantic(given)
        except SchemaError as error:
            raise Invalid("ValueError", "The args_json_schema of the tool cannot be used: %s" % error) from None

    def _models(self):
        if self._made is None:
            maker = _ModelMaker(self._pydantic, self._schema)
            self._made = maker.root(), maker.models()
        return self._made

    def _by_pydantic(self, given):
        model = self._models()[0]
        try:
            instance = model(**given)
        except self._pydantic.ValidationError as error:
            reason = _complaints(error, name_of(self._schema, ROOT_NAME))
        else:
            aliases = model.__belljar_names__
            return {name: getattr(instance, aliases[name]) for name in given if name in aliases}
        raise Invalid("ValidationError", reason)


def _complaints(error, title):
    found = error.errors()
    shown = "; ".join("%s: %s" % (".".join(map(str, entry["loc"])) or "value", entry["msg"])
                      for entry in found[:MOST_COMPLAINTS])
    return "%d validation error%s for %s: %s" % (len(found), "" if len(found) == 1 else "s", title, shown)


_FORMATS = {"date-time": "datetime", "date": "date", "time": "time"}
_NUMBERS = (("minimum", "ge"), ("maximum", "le"), ("exclusiveMinimum", "gt"), ("exclusiveMaximum", "lt"), ("multipleOf", "multiple_of"))
_LIMITS = {"integer": _NUMBERS, "number": _NUMBERS, "array": (("minItems", "min_length"), ("maxItems", "max_length")),
           "string": (("minLength", "min_length"), ("maxLength", "max_length"), ("pattern", "pattern"))}


class _ModelMaker:
    """Pydantic models out of one JSON schema; a definition that refers to itself works."""

    def __init__(self, pydantic, schema):
        import typing

        self._typing = typing
        self._pydantic = pydantic
        self._schema = schema
        self._models = {}  # by name of the definition; None while it is being made

    def models(self):
        return {name: made for name, made in self._models.items() if made is not None}

    def root(self):
        model = self._model(self._schema, name_of(self._schema, ROOT_NAME))
        made = {name: made for name, made in self._models.items() if made is not None}
        for one in [model, *made.values()]:
            rebuild = getattr(one, "model_rebuild", None)
            if rebuild is not None and made:
                rebuild(_types_namespace=made)
        return model

    def _model(self, schema, name):
        fields, names = {}, {}
        required = schema.get("required") or ()
        for position, (key, definition) in enumerate((schema.get("properties") or {}).items()):
            attribute = key if key.isidentifier() and not key.startswith("_") else "field_%d" % position
            names[key] = attribute
            fields[attribute] = self._field(key, attribute, definition, key in required)
        model = self._pydantic.create_model(name, __module__="__main__", **fields)
        model.__belljar_names__ = names
        return model

    def _field(self, key, attribute, definition, is_required):
        wanted = self._type(definition, key)
        definition = definition if type(definition) is dict else {}
        options = {"description": definition.get("description")}
        if attribute != key:
            options["alias"] = key
        if is_required and "default" not in definition:
            return wanted, self._pydantic.Field(..., **options)
        return self._typing.Optional[wanted], self._pydantic.Field(definition.get("default"), **options)

    def _type(self, definition, hint):
        typing = self._typing
        if definition is True or not definition:
            return typing.Any
        if "$ref" in definition:
            return self._referred(definition["$ref"])
        if definition.get("enum") or "const" in definition:
            return typing.Literal[tuple(definition.get("enum") or (definition["const"],))]
        for word in ("anyOf", "oneOf"):
            if definition.get(word):
                return typing.Union[tuple(self._type(option, hint) for option in definition[word])]
        if len(definition.get("allOf") or ()) == 1:
            return self._type(definition["allOf"][0], hint)
        wanted = definition.get("type")
        if type(wanted) is list:
            return typing.Union[tuple(self._type(dict(definition, type=one), hint) for one in wanted)]
        return self._within_limits(self._simple(definition, wanted, hint), definition, wanted)

    def _within_limits(self, simple, definition, wanted):
        limits = {option: definition[word] for word, option in _LIMITS.get(wanted, ()) if word in definition}
        if not limits or not hasattr(self._pydantic, "model_validator"):  # 1.x knows no limits in there
            return simple
        return self._typing.Annotated[simple, self._pydantic.Field(**limits)]

    def _simple(self, definition, wanted, hint):
        typing = self._typing
        if wanted == "string":
            return self._text(definition.get("format"))
        if wanted == "array":
            return typing.List[self._type(definition.get("items"), hint + "_item")]
        if wanted == "object" or (wanted is None and "properties" in definition):
            if definition.get("properties"):
                return self._model(definition, name_of(definition, _camel(hint)))
            return typing.Dict[str, self._type(definition.get("additionalProperties"), hint + "_value")]
        simple = {"integer": int, "number": float, "boolean": bool, "null": type(None), None: typing.Any}
        if wanted not in simple:
            raise SchemaError("it has the unknown type %.100r" % (wanted,))
        return simple[wanted]

    def _text(self, form):
        if form in _FORMATS:
            import datetime

            return getattr(datetime, _FORMATS[form])
        if form == "uuid":
            import uuid

            return uuid.UUID
        return str

    def _referred(self, reference):
        name = target_name(reference)
        if name not in self._models:
            definition = resolve(self._schema, reference)
            self._models[name] = None
            if definition.get("properties"):
                self._models[name] = self._model(definition, name)
            else:
                del self._models[name]
                return self._type(definition, name)
        made = self._models[name]
        return self._typing.ForwardRef(name) if made is None else made


def _camel(text):
    parts = "".join(char if char.isalnum() else " " for char in text).split() or ["Model"]
    return "".join(part[:1].upper() + part[1:] for part in parts)
